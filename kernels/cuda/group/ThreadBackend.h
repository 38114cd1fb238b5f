//===-- ThreadBackend.h - Kernel agents on threads of the CPU ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_THREADBACKEND_H
#define CGX_KERNELS_CUDA_GROUP_THREADBACKEND_H

#include "HostBackend.h"
#include "ThreadedBlock.h"

#include <memory>
#include <thread>
#include <vector>

namespace cgx::cuda {

/// A backend that runs two independent blocks of CPU threads at a time.
class ThreadBackend : public HostBackend {
public:
  template <typename Agent>
  Outcome launch(const Agent &agent, const TileRange *ranges, uint32_t count, Stream) {
    constexpr uint32_t blocksAtATime = 2;
    struct Block {
      Team team;
      alignas(16) std::byte shared[Agent::sharedBytes + 1];
    };
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<std::jthread> threads;
    for (uint32_t number = 0; number < blocksAtATime && number < count; ++number) {
      Block &block = *blocks.emplace_back(new Block);
      for (uint32_t thread = 0; thread < Team::threads; ++thread)
        threads.emplace_back([&agent, &block, ranges, count, number, thread] {
          const ThreadedBlock threads(block.team, thread, block.shared);
          for (uint32_t range = number; range < count; range += blocksAtATime) {
            // Shared memory has unspecified contents when a block begins.
            threads.once([&] { std::memset(block.shared, 0xa5, sizeof block.shared); });
            agent(threads, ranges[range]);
          }
        });
    }
    return {};
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_THREADBACKEND_H
