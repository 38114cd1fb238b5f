//===-- PackedLevels.h - Words of packed levels -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the layout of packing.h seen from the words: which levels each one holds. Words are written whole,
// so that no two threads share one.
#ifndef CGX_KERNELS_CUDA_AGENT_PACKEDLEVELS_H
#define CGX_KERNELS_CUDA_AGENT_PACKEDLEVELS_H

#include "TileRange.h"
#include "cgx/arithmetic/packing.h"

namespace cgx::cuda {

/// The words of packed levels: 16 bits each in all whole blocks, then single bytes for the remaining levels.
struct LevelWords {
  uint32_t bits;
  uint64_t elements;
  uint64_t blocks;
  uint64_t wordsOfBlock;

  CGX_DEVICE_INLINE LevelWords(uint32_t bits, uint64_t elements)
      : bits(bits), elements(elements), blocks(elements / packingBlockElements(bits)),
        wordsOfBlock(packingBlockBytes(bits) / 2) {}

  CGX_DEVICE_INLINE uint64_t wordCount() const { return blocks * wordsOfBlock; }
  CGX_DEVICE_INLINE uint64_t tailBytes() const { return (elements * bits + 7) / 8 - wordCount() * 2; }
  CGX_DEVICE_INLINE uint64_t count() const { return wordCount() + tailBytes(); }

  /// Writes word or byte `number`, with the levels that levelOf(element) returns.
  template <typename LevelOf>
  CGX_AGENT void store(uint8_t *levels, uint64_t number, const LevelOf &levelOf) const {
    if (number < wordCount())
      return storeTo(levels + number * 2,
                     word(uint32_t(number / wordsOfBlock), uint32_t(number % wordsOfBlock), levelOf));
    const uint64_t byte = number - wordCount();
    levels[wordCount() * 2 + byte] = tailByte(byte, levelOf);
  }

private:
  /// Returns a word. Word k of column c is number 32 k + c of its block.
  template <typename LevelOf>
  CGX_AGENT uint16_t word(uint32_t block, uint32_t inBlock, const LevelOf &levelOf) const {
    const uint32_t column = inBlock % packingColumns, firstBit = inBlock / packingColumns * 16;
    const uint64_t base = uint64_t(block) * packingBlockElements(bits) + column / 2 + column % 2 * 16;
    uint32_t word = 0;
    for (uint32_t row = firstBit / bits; row * bits < firstBit + 16; ++row) {
      const uint32_t level = levelOf(base + row * packingColumns), bit = row * bits;
      word |= bit >= firstBit ? level << (bit - firstBit) : level >> (firstBit - bit);
    }
    return uint16_t(word);
  }

  template <typename LevelOf> CGX_AGENT uint8_t tailByte(uint64_t byte, const LevelOf &levelOf) const {
    const uint64_t first = blocks * packingBlockElements(bits);
    uint32_t value = 0;
    for (uint64_t i = byte * 8 / bits; i * bits < byte * 8 + 8 && first + i < elements; ++i) {
      const uint32_t level = levelOf(first + i);
      value |= i * bits >= byte * 8 ? level << (i * bits - byte * 8) : level >> (byte * 8 - i * bits);
    }
    return uint8_t(value);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_PACKEDLEVELS_H
