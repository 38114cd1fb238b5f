//===-- DeviceBlock.h - Threads of a block on a GPU -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BLOCK_DEVICEBLOCK_H
#define CGX_KERNELS_CUDA_BLOCK_DEVICEBLOCK_H

#include "TileRange.h"

#include <type_traits>

namespace cgx::cuda {

constexpr uint32_t blockThreads = 256;

/// The lanes of a warp, all of which take part.
struct DeviceWarp {
  template <typename T> struct PerLane {
    T own;
    __device__ T &operator[](uint32_t) { return own; }
    __device__ const T &operator[](uint32_t) const { return own; }
  };

  template <typename Step> __device__ __forceinline__ void forEach(const Step &step) const {
    step(threadIdx.x % laneCount);
  }

  template <typename T>
  __device__ __forceinline__ PerLane<T> shuffleXor(const PerLane<T> &value, uint32_t mask) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return {__shfl_xor_sync(0xffffffffu, value.own, int(mask))};
    } else {
      static_assert(sizeof(T) % sizeof(uint32_t) == 0);
      constexpr uint32_t words = sizeof(T) / sizeof(uint32_t);
      uint32_t word[words];
      memcpy(word, &value.own, sizeof(T));
      unrolled<words>([&](uint32_t i) { word[i] = __shfl_xor_sync(0xffffffffu, word[i], int(mask)); });
      PerLane<T> moved;
      memcpy(&moved.own, word, sizeof(T));
      return moved;
    }
  }

  __device__ __forceinline__ uint32_t ballot(const PerLane<bool> &holds) const {
    return __ballot_sync(0xffffffffu, holds.own);
  }

  template <typename T> __device__ __forceinline__ T first(const PerLane<T> &value) const {
    return __shfl_sync(0xffffffffu, value.own, 0);
  }
};

extern __shared__ __align__(16) unsigned char blockMemory[];

struct DeviceBlock {
  template <typename Step>
  __device__ __forceinline__ void forEachIndex(uint64_t begin, uint64_t end, const Step &step) const {
    for (uint64_t index = begin + threadIdx.x; index < end; index += blockThreads)
      step(index);
  }

  template <typename Step>
  __device__ __forceinline__ void forEachWarp(uint64_t begin, uint64_t end, const Step &step) const {
    for (uint64_t index = begin + threadIdx.x / laneCount; index < end; index += blockThreads / laneCount)
      step(DeviceWarp(), index);
  }

  template <typename Step> __device__ __forceinline__ void once(const Step &step) const {
    __syncthreads();
    if (threadIdx.x == 0)
      step();
    __syncthreads();
  }

  __device__ __forceinline__ void wait() const { __syncthreads(); }

  template <typename T> __device__ __forceinline__ T *shared() const {
    return reinterpret_cast<T *>(blockMemory);
  }

  __device__ __forceinline__ uint32_t atomicAdd(uint32_t *target, uint32_t value) const {
    return ::atomicAdd(target, value);
  }
  __device__ __forceinline__ uint64_t atomicAdd(uint64_t *target, uint64_t value) const {
    return ::atomicAdd(reinterpret_cast<unsigned long long *>(target),
                       static_cast<unsigned long long>(value));
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BLOCK_DEVICEBLOCK_H
