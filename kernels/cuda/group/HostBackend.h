//===-- HostBackend.h - Kernel agents in a plain loop on the CPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This backend runs tests of the agents on machines without a GPU.
#ifndef CGX_KERNELS_CUDA_GROUP_HOSTBACKEND_H
#define CGX_KERNELS_CUDA_GROUP_HOSTBACKEND_H

#include "SerialBlock.h"
#include "cgx/kernels/cuda.h"

#include <cstring>
#include <new>

namespace cgx::cuda {

class HostBackend {
public:
  Outcome allocate(uint64_t bytes, void *&memory) {
    memory = ::operator new(bytes, std::align_val_t{16});
    std::memset(memory, 0, bytes);
    return {};
  }
  void release(void *memory) { ::operator delete(memory, std::align_val_t{16}); }

  Outcome upload(void *to, const void *from, uint64_t bytes) {
    std::memcpy(to, from, bytes);
    return {};
  }
  Outcome download(void *to, const void *from, uint64_t bytes, Stream) {
    if (bytes != 0)
      std::memcpy(to, from, bytes);
    return {};
  }

  template <typename Agent>
  Outcome launch(const Agent &agent, const TileRange *ranges, uint32_t count, Stream) {
    for (uint32_t range = 0; range < count; ++range) {
      // Shared memory has unspecified contents when a block begins.
      alignas(16) std::byte shared[Agent::sharedBytes + 1];
      std::memset(shared, 0xa5, sizeof shared);
      agent(SerialBlock(shared), ranges[range]);
    }
    return {};
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_HOSTBACKEND_H
