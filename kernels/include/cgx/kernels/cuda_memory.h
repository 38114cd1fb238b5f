//===-- cuda_memory.h - Memory of a GPU, and the order of what happens to it ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the part of the CUDA runtime that programs around the codecs need, so that only the library of the
// GPU kernels links it. Everything but waitFor() returns at once.
#ifndef CGX_KERNELS_CUDA_MEMORY_H
#define CGX_KERNELS_CUDA_MEMORY_H

#include "cgx/kernels/cuda.h"

#include <functional>
#include <utility>

namespace cgx::cuda {

enum class MemoryKind {
  host,   ///< anything that is not one of these
  pinned, ///< of the host, copied from and to a GPU without a detour
  device,
};

/// Returns the kind of memory that a pointer points to; `host` without a GPU.
MemoryKind memoryKindOf(const void *pointer);

/// Owned memory, released with its owner.
class Memory {
public:
  Memory() = default;
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept {
    std::swap(kind, other.kind);
    std::swap(address, other.address);
    std::swap(size, other.size);
    return *this;
  }
  ~Memory() {
    if (address)
      release();
  }

  /// Replaces what was owned by `bytes` bytes, not 0, of device or pinned memory.
  Outcome allocate(MemoryKind ofKind, uint64_t bytes);

  template <typename T = void> T *get() const { return static_cast<T *>(address); }
  uint64_t bytes() const { return size; }

private:
  friend struct CudaLibrary;
  void release();

  MemoryKind kind = MemoryKind::host;
  void *address = nullptr;
  uint64_t size = 0;
};

/// Copies between any two kinds of memory, in the order of the stream.
Outcome copy(void *to, const void *from, uint64_t bytes, Stream stream);

/// Rows of `width` bytes of a GPU, of which each begins `pitch` bytes after the last one: at most 2^31 - 1.
struct RowCopy {
  void *to = nullptr;
  uint64_t toPitch = 0;
  const void *from = nullptr;
  uint64_t fromPitch = 0;
  uint64_t width = 0, rows = 0;
};
Outcome copyRows(const RowCopy &rows, Stream stream);

/// Makes device memory zero, in the order of the stream.
Outcome clear(void *memory, uint64_t bytes, Stream stream);

/// Waits until the stream has done all that was put on it.
Outcome waitFor(Stream stream);

/// Makes a new stream.
Outcome makeStream(Stream &stream);
void destroyStream(Stream stream);

/// Runs put() between two points of a stream, and waits: the time between them on the GPU, in seconds.
Outcome timeOn(Stream stream, const std::function<Outcome()> &put, double &seconds);

/// Runs put() as the making of a CUDA graph, and replays it `times` times.
Outcome replayGraph(Stream stream, uint32_t times, const std::function<Outcome()> &put);

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_MEMORY_H
