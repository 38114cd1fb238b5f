//===-- ThreadEngine.h - Kernel bodies on threads of the processor ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_THREADENGINE_H
#define CGX_KERNELS_CUDA_GROUP_THREADENGINE_H

#include "HostEngine.h"
#include "ThreadCrew.h"

#include <memory>
#include <thread>
#include <vector>

namespace cgx::cuda {

/// Two blocks run at a time, which know nothing of each other.
class ThreadEngine : public HostEngine {
public:
  template <typename Body> Outcome launch(const Body &body, const Slice *slices, uint32_t count, Stream) {
    constexpr uint32_t blocksAtATime = 2;
    struct Block {
      Team team;
      alignas(16) std::byte shared[Body::sharedBytes + 1];
    };
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<std::jthread> threads;
    for (uint32_t number = 0; number < blocksAtATime && number < count; ++number) {
      Block &block = *blocks.emplace_back(new Block);
      for (uint32_t thread = 0; thread < Team::threads; ++thread)
        threads.emplace_back([&body, &block, slices, count, number, thread] {
          const ThreadCrew crew(block.team, thread, block.shared);
          for (uint32_t slice = number; slice < count; slice += blocksAtATime) {
            // Shared memory holds anything when a block begins.
            crew.once([&] { std::memset(block.shared, 0xa5, sizeof block.shared); });
            body(crew, slices[slice]);
          }
        });
    }
    return {};
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_THREADENGINE_H
