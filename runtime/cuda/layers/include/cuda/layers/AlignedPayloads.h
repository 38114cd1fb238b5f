//===-- AlignedPayloads.h - Payloads where kernels can reach them ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels expect payloads at multiples of 8 bytes. In the buffers of a program one lies right behind the
// other, and their bytes are any number: those that begin elsewhere are copied, on the GPU.
#ifndef CGX_RUNTIME_CUDA_LAYERS_ALIGNEDPAYLOADS_H
#define CGX_RUNTIME_CUDA_LAYERS_ALIGNEDPAYLOADS_H

#include "cgx/kernels/cuda_memory.h"
#include "status/Status.h"

#include <optional>
#include <vector>

namespace cgx {

/// Bytes of a buffer.
struct Extent {
  uint64_t begin, bytes;
};

class AlignedPayloads {
public:
  /// Of a buffer that begins where this one does, modulo 8.
  Status make(const std::byte *buffer, std::vector<Extent> of);

  /// Where kernels find a payload of the buffer.
  template <typename Byte> Byte *at(size_t payload, Byte *buffer) const {
    return places[payload] ? memory.get<std::byte>() + *places[payload] : buffer + payloads[payload].begin;
  }

  /// Copies what does not lie where kernels find it from the buffer, ahead of them, or to it, behind them.
  Status copyFrom(const std::byte *buffer, cuda::Stream stream) const;
  Status copyTo(std::byte *buffer, cuda::Stream stream) const;

private:
  struct Copy {
    uint64_t inBuffer, inMemory, bytes;
  };

  std::vector<Extent> payloads;
  std::vector<std::optional<uint64_t>> places; ///< in `memory`, of those that are copied
  std::vector<Copy> copies;
  cuda::Memory memory;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_LAYERS_ALIGNEDPAYLOADS_H
