//===-- collective/Scratch.h - Memory for the time of a collective -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_SCRATCH_H
#define CGX_RUNTIME_COLLECTIVE_SCRATCH_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace cgx {

/// Memory that is taken piece by piece and given back as a whole. It is kept from
/// one collective to the next, so that a steady program stops allocating, and warm
/// pages are used again: it never holds more than twice the largest collective's need.
class Scratch {
public:
  static constexpr size_t kAlignment = 64;

  /// Uninitialized, aligned to kAlignment, valid until reset().
  std::byte *take(uint64_t bytes) {
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (blocks.empty() || blocks.back().size - used < bytes) {
      blocks.push_back(allocate(bytes));
      used = 0;
    }
    std::byte *piece = blocks.back().memory.get() + used;
    used += bytes;
    return piece;
  }

  /// Gives all pieces back. What needed several blocks will find one of their sum.
  void reset() {
    used = 0;
    if (blocks.size() < 2)
      return;
    uint64_t total = 0;
    for (const Block &block : blocks)
      total += block.size;
    blocks.clear();
    blocks.push_back(allocate(total));
  }

private:
  struct Free {
    void operator()(std::byte *memory) const { ::operator delete(memory, std::align_val_t(kAlignment)); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    uint64_t size;
  };

  static Block allocate(uint64_t bytes) {
    auto *memory = static_cast<std::byte *>(::operator new(bytes, std::align_val_t(kAlignment)));
    return {std::unique_ptr<std::byte, Free>(memory), bytes};
  }

  std::vector<Block> blocks;
  uint64_t used = 0;
};

/// A piece of scratch that is used again and again by what needs it for a moment.
class ScratchRoom {
public:
  explicit ScratchRoom(Scratch &scratch) : scratch(scratch) {}

  /// Uninitialized, and no longer what was given before.
  std::byte *atLeast(uint64_t bytes) {
    if (bytes > size)
      memory = scratch.take(size = bytes);
    return memory;
  }

private:
  Scratch &scratch;
  std::byte *memory = nullptr;
  uint64_t size = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_SCRATCH_H
