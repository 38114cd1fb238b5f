//===-- SerialBlock.h - Threads of a block, one after the other ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernel agents are written against a threads: a block of threads, and its warps as groups of 32 lanes. What
// one step leaves for another lane to read passes through an operation of the threads, so that the same body
// can be run by a plain loop over threads. That is this threads. DeviceBlock.h has the one of a GPU,
// ThreadedBlock.h one of the processor's threads.
#ifndef CGX_KERNELS_CUDA_BLOCK_SERIALBLOCK_H
#define CGX_KERNELS_CUDA_BLOCK_SERIALBLOCK_H

#include "TileRange.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace cgx::cuda {

/// 32 lanes that take their steps together.
struct SerialWarp {
  /// A variable of which each lane has its own.
  template <typename T> using PerLane = std::array<T, laneCount>;

  template <typename Step> void forEach(const Step &step) const {
    for (uint32_t lane = 0; lane < laneCount; ++lane)
      step(lane);
  }

  /// To each lane the value of the lane whose number differs by `mask`.
  template <typename T> PerLane<T> shuffleXor(const PerLane<T> &value, uint32_t mask) const {
    PerLane<T> moved;
    for (uint32_t lane = 0; lane < laneCount; ++lane)
      moved[lane] = value[lane ^ mask];
    return moved;
  }

  /// Bit `lane` says what that lane holds.
  uint32_t ballot(const PerLane<bool> &holds) const {
    uint32_t bits = 0;
    for (uint32_t lane = 0; lane < laneCount; ++lane)
      bits |= uint32_t(holds[lane]) << lane;
    return bits;
  }

  /// What the first lane has.
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

  /// Calls step() on one thread, and nobody goes on before it is done.
  template <typename Step> void once(const Step &step) const { step(); }

  /// Nobody goes on before everybody is here.
  void wait() const {}

  /// Memory that all threads of the block see, of Agent::sharedBytes bytes.
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
