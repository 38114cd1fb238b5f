//===-- TileRange.h - The work of one thread block --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BLOCK_TILERANGE_H
#define CGX_KERNELS_CUDA_BLOCK_TILERANGE_H

#include "cgx/arithmetic/device.h"

/// Marks functions of kernel agents. nvcc compiles them for the GPU, any other compiler for the CPU, where a
/// SerialBlock runs them.
#if defined(__CUDACC__)
#define CGX_AGENT __device__ __forceinline__
#else
#define CGX_AGENT inline
#endif

namespace cgx::cuda {

constexpr uint32_t laneCount = 32;

/// Calls step(i) for i below `count`. On a GPU the loop is unrolled, so that arrays indexed by `i` stay in
/// registers.
template <uint32_t count, typename Step> CGX_AGENT void unrolled(const Step &step) {
#if defined(__CUDACC__)
#pragma unroll
#endif
  for (uint32_t i = 0; i < count; ++i)
    step(i);
}

/// Tells the compiler of a GPU that a pointer is not to shared memory.
template <typename T> CGX_AGENT T *inGlobalMemory(T *pointer) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isGlobal(pointer));
#endif
  return pointer;
}

/// Loads or stores a word that other threads may store at the same time.
CGX_AGENT uint32_t loadRelaxed(const uint32_t *word) {
#if defined(__CUDA_ARCH__)
  return *static_cast<const volatile uint32_t *>(word);
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}
CGX_AGENT void storeRelaxed(uint32_t *word, uint32_t value) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile uint32_t *>(word) = value;
#else
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
#endif
}

CGX_AGENT uint32_t countBits(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return uint32_t(__popc(bits));
#else
  return uint32_t(__builtin_popcount(bits));
#endif
}

/// Indices [begin, end) of a descriptor of a table: buckets, words or bytes, depending on the agent.
struct TileRange {
  uint64_t begin;
  uint64_t end;
  uint32_t desc;
};

template <typename Warp, typename T> using PerLane = typename Warp::template PerLane<T>;

/// Combines the values of lanes in groups of `width` neighbours, upper halves with lower ones until one value
/// is left. Lane 0 of a group gets it; all lanes do if the order does not matter to `combine`.
template <typename Warp, typename Values, typename Combine>
CGX_AGENT Values combineLanes(const Warp &lanes, Values value, uint32_t width, const Combine &combine) {
  for (uint32_t mask = width / 2; mask > 0; mask /= 2) {
    const Values other = lanes.shuffleXor(value, mask);
    lanes.forEach([&](uint32_t lane) { value[lane] = combine(value[lane], other[lane]); });
  }
  return value;
}

/// Returns for each lane the sum of the values of lanes before it. `value` becomes the sum of all.
template <typename Warp>
CGX_AGENT PerLane<Warp, uint32_t> sumBefore(const Warp &lanes, PerLane<Warp, uint32_t> &value) {
  PerLane<Warp, uint32_t> before;
  lanes.forEach([&](uint32_t lane) { before[lane] = 0; });
  for (uint32_t mask = 1; mask < laneCount; mask *= 2) {
    const PerLane<Warp, uint32_t> other = lanes.shuffleXor(value, mask);
    lanes.forEach([&](uint32_t lane) {
      before[lane] += lane & mask ? other[lane] : 0;
      value[lane] += other[lane];
    });
  }
  return before;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BLOCK_TILERANGE_H
