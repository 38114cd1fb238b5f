//===-- SerialBlock.h - Threads of a block, one after the other ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernel agents are written for a thread block, and for its warps as groups of 32 lanes. Data passes from one
// lane to another only through operations of the block, so a plain loop over threads can run the same agent.
// This file has such a loop. DeviceBlock.h has the thread block of a GPU, ThreadedBlock.h one of threads of
// the CPU.
#ifndef CGX_KERNELS_CUDA_BLOCK_SERIALBLOCK_H
#define CGX_KERNELS_CUDA_BLOCK_SERIALBLOCK_H

#include "TileRange.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace cgx::cuda {

/// A warp of 32 lanes that take each step together.
struct SerialWarp {
  /// A variable that each lane has for itself.
  template <typename T> using PerLane = std::array<T, laneCount>;

  template <typename Step> void forEach(const Step &step) const {
    for (uint32_t lane = 0; lane < laneCount; ++lane)
      step(lane);
  }

  /// Gives each lane the value of the lane whose number differs by `mask`.
  template <typename T> PerLane<T> shuffleXor(const PerLane<T> &value, uint32_t mask) const {
    PerLane<T> moved;
    for (uint32_t lane = 0; lane < laneCount; ++lane)
      moved[lane] = value[lane ^ mask];
    return moved;
  }

  /// Returns a word whose bit `lane` is what that lane holds.
  uint32_t ballot(const PerLane<bool> &holds) const {
    uint32_t bits = 0;
    for (uint32_t lane = 0; lane < laneCount; ++lane)
      bits |= uint32_t(holds[lane]) << lane;
    return bits;
  }

  /// Returns the value of the first lane.
  template <typename T> T first(const PerLane<T> &value) const { return value[0]; }
};

class SerialBlock {
public:
  explicit SerialBlock(std::byte *sharedMemory) : sharedMemory(sharedMemory) {}

  /// Calls step(index) for [begin, end), each on one thread.
  template <typename Step> void forEachIndex(uint64_t begin, uint64_t end, const Step &step) const {
    for (uint64_t index = begin; index < end; ++index)
      step(index);
  }

  /// Calls step(lanes, index) for [begin, end), each on one warp.
  template <typename Step> void forEachWarp(uint64_t begin, uint64_t end, const Step &step) const {
    for (uint64_t index = begin; index < end; ++index)
      step(SerialWarp(), index);
  }

  /// Calls step() on one thread. No thread goes on before it is done.
  template <typename Step> void once(const Step &step) const { step(); }

  /// Waits until all threads are here.
  void wait() const {}

  /// Returns the memory that the threads of the block share, of Agent::sharedBytes bytes.
  template <typename T> T *shared() const { return reinterpret_cast<T *>(sharedMemory); }

  template <typename T> T atomicAdd(T *target, T value) const {
    const T before = *target;
    *target += value;
    return before;
  }

private:
  std::byte *sharedMemory;
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BLOCK_SERIALBLOCK_H
