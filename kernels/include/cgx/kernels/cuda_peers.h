//===-- cuda_peers.h - GPUs of several threads and processes ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks on GPUs of one host need these of each other: the GPU that a thread uses, points in the order of
// streams, and memory that other processes map. Only creating them waits.
#ifndef CGX_KERNELS_CUDA_PEERS_H
#define CGX_KERNELS_CUDA_PEERS_H

#include "cgx/kernels/cuda_memory.h"

#include <array>
#include <cstddef>

struct CUevent_st;

namespace cgx::cuda {

/// Returns how many GPUs this process sees; 0 without any.
uint32_t deviceCount();

/// Gets the GPU that the calling thread uses, by its number in this process.
Outcome currentDevice(int &device);
Outcome useDevice(int device);

/// Uses the GPU of this rank, where the ranks of a host take turns.
Outcome useDeviceOf(uint32_t rankOnHost);

/// Lets the calling thread's GPU read the memory of another of this process. Fails where no link is between
/// them.
Outcome enablePeer(int device);

/// Sets `done` to whether all work on the stream has completed, or returns what went wrong on the GPU.
Outcome poll(Stream stream, bool &done);

/// Returns whether the stream is being captured: work put on it joins a CUDA graph and does not run now.
bool isCapturing(Stream stream);

/// Names memory or an event to the other processes of the host.
using IpcHandle = std::array<std::byte, 64>;

/// A point in the order of a stream.
class Event {
public:
  Event() = default;
  Event(Event &&other) noexcept { *this = std::move(other); }
  Event &operator=(Event &&other) noexcept {
    std::swap(event, other.event);
    return *this;
  }
  ~Event() {
    if (event)
      release();
  }

  Outcome make();
  /// Makes an event that other processes may wait for.
  Outcome makeShared();
  /// Imports the event of another process.
  Outcome import(const IpcHandle &handle);

  Outcome handle(IpcHandle &handle) const;
  /// Puts the point after all work that is on the stream now.
  Outcome record(Stream stream);
  /// Sets `done` to whether the event has completed.
  Outcome poll(bool &done) const;
  CUevent_st *get() const { return event; }

private:
  friend struct CudaLibrary;
  void release();

  CUevent_st *event = nullptr;
};

/// Holds back what is put on the stream from now on until the event's last recorded point is reached; it must
/// have been recorded.
Outcome waitOn(Stream stream, CUevent_st *event);

/// Allocates memory of a GPU for other processes to map, on pages of its own.
Outcome allocateShared(Memory &memory, uint64_t bytes);
Outcome handleOf(const Memory &memory, IpcHandle &handle);

/// Memory that another process shares, mapped into this one. It is closed before its owner frees it.
class ImportedMemory {
public:
  ImportedMemory() = default;
  ImportedMemory(ImportedMemory &&other) noexcept { *this = std::move(other); }
  ImportedMemory &operator=(ImportedMemory &&other) noexcept {
    std::swap(address, other.address);
    return *this;
  }
  ~ImportedMemory() {
    if (address)
      release();
  }

  Outcome open(const IpcHandle &handle);
  void *get() const { return address; }

private:
  friend struct CudaLibrary;
  void release();

  void *address = nullptr;
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_PEERS_H
