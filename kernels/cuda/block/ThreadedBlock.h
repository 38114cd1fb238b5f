//===-- ThreadedBlock.h - Threads of a block on the CPU ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This thread block waits exactly where a GPU's block waits. So a barrier or an atomic operation that is
// missing in an agent is a race of threads here too, which the thread sanitizer finds.
#ifndef CGX_KERNELS_CUDA_BLOCK_THREADEDBLOCK_H
#define CGX_KERNELS_CUDA_BLOCK_THREADEDBLOCK_H

#include "TileRange.h"

#include <array>
#include <barrier>
#include <cstddef>
#include <cstring>

namespace cgx::cuda {

/// The state that the threads of a block share.
struct Team {
  static constexpr uint32_t warps = 2, threads = warps * laneCount;

  struct Warp {
    std::barrier<> lanes{laneCount};
    alignas(16) std::array<std::byte[16], laneCount> given; ///< the value that each lane passes to others
  };

  std::barrier<> all{threads};
  std::array<Warp, warps> warp;
};

/// One lane of a warp, all of whose lanes take part.
class ThreadWarp {
public:
  template <typename T> struct PerLane {
    T own;
    T &operator[](uint32_t) { return own; }
    const T &operator[](uint32_t) const { return own; }
  };

  ThreadWarp(Team::Warp &warp, uint32_t lane) : warp(warp), lane(lane) {}

  template <typename Step> void forEach(const Step &step) const { step(lane); }

  template <typename T> PerLane<T> shuffleXor(const PerLane<T> &value, uint32_t mask) const {
    PerLane<T> moved;
    exchange(value, [&](const auto &valueOf) { moved.own = valueOf(lane ^ mask); });
    return moved;
  }

  uint32_t ballot(const PerLane<bool> &holds) const {
    uint32_t bits = 0;
    exchange(holds, [&](const auto &valueOf) {
      for (uint32_t other = 0; other < laneCount; ++other)
        bits |= uint32_t(valueOf(other)) << other;
    });
    return bits;
  }

  template <typename T> T first(const PerLane<T> &value) const {
    PerLane<T> moved;
    exchange(value, [&](const auto &valueOf) { moved.own = valueOf(0); });
    return moved.own;
  }

private:
  /// Calls take(valueOf) after every lane has given its value, and returns after every lane has taken.
  template <typename T, typename Take> void exchange(const PerLane<T> &value, const Take &take) const {
    static_assert(sizeof(T) <= sizeof warp.given[0]);
    std::memcpy(warp.given[lane], &value.own, sizeof(T));
    warp.lanes.arrive_and_wait();
    take([&](uint32_t other) {
      T given;
      std::memcpy(&given, warp.given[other], sizeof(T));
      return given;
    });
    warp.lanes.arrive_and_wait();
  }

  Team::Warp &warp;
  uint32_t lane;
};

class ThreadedBlock {
public:
  ThreadedBlock(Team &team, uint32_t thread, std::byte *sharedMemory)
      : team(team), thread(thread), sharedMemory(sharedMemory) {}

  template <typename Step> void forEachIndex(uint64_t begin, uint64_t end, const Step &step) const {
    for (uint64_t index = begin + thread; index < end; index += Team::threads)
      step(index);
  }

  template <typename Step> void forEachWarp(uint64_t begin, uint64_t end, const Step &step) const {
    for (uint64_t index = begin + thread / laneCount; index < end; index += Team::warps)
      step(ThreadWarp(team.warp[thread / laneCount], thread % laneCount), index);
  }

  template <typename Step> void once(const Step &step) const {
    wait();
    if (thread == 0)
      step();
    wait();
  }

  void wait() const { team.all.arrive_and_wait(); }

  template <typename T> T *shared() const { return reinterpret_cast<T *>(sharedMemory); }

  template <typename T> T atomicAdd(T *target, T value) const {
    return __atomic_fetch_add(target, value, __ATOMIC_RELAXED);
  }

private:
  Team &team;
  uint32_t thread;
  std::byte *sharedMemory;
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BLOCK_THREADEDBLOCK_H
