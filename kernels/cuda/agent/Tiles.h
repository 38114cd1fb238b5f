//===-- Tiles.h - Whole blocks of packed levels in registers ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of packing.h, seen from eight lanes. A tile is a run of whole blocks, and lane l of its eight
// has of every row of 32 elements those that its columns hold: 2 l, 2 l + 1, 16 + 2 l and 17 + 2 l. So levels
// are packed without leaving the lane, two neighbours share the word of their random numbers, and memory is
// read and written in whole sectors.
#ifndef CGX_KERNELS_CUDA_AGENT_TILES_H
#define CGX_KERNELS_CUDA_AGENT_TILES_H

#include "Pairs.h"
#include "cgx/arithmetic/packing.h"

namespace cgx::cuda {

constexpr uint32_t tileLanes = 8;

/// Rows of a tile: those of a block, and at least four.
constexpr uint32_t tileRows(uint32_t bits) { return packingRows(bits) < 4 ? 4 : packingRows(bits); }
constexpr uint32_t tileElements(uint32_t bits) { return tileRows(bits) * packingColumns; }

/// The elements of a row that one lane has: columns in the order of their words.
struct RowPart {
  float low[2];  ///< elements 2 l, 2 l + 1
  float high[2]; ///< elements 16 + 2 l, 17 + 2 l
};

template <uint32_t bits> struct TilePart {
  static constexpr uint32_t rows = tileRows(bits);
  RowPart row[rows];
};

/// Levels of one lane: 32-bit words of two columns each, as they lie in memory.
template <uint32_t bits> struct TileWords {
  static constexpr uint32_t rows = tileRows(bits);
  static constexpr uint32_t blockRows = packingRows(bits);
  static constexpr uint32_t blocks = rows / blockRows;
  static constexpr uint32_t wordsOfColumn = blockRows * bits / 16;
  uint32_t word[blocks][wordsOfColumn][2];

  CGX_AGENT void clear() {
    forEachWord([&](uint32_t block, uint32_t k) { word[block][k][0] = word[block][k][1] = 0; });
  }

  /// Puts the levels of elements of a row, 0 or 1 from where the lane begins, in the two halves of their
  /// words.
  CGX_AGENT void put(uint32_t row, uint32_t column, uint32_t low, uint32_t high) {
    const uint32_t block = row / blockRows, bit = row % blockRows * bits, k = bit / 16, shift = bit % 16;
    const uint32_t both = (low << shift & 0xffffu) | high << (16 + shift);
    word[block][k][column] |= both;
    if (shift + bits > 16)
      word[block][k + 1][column] |= low >> (16 - shift) | high >> (16 - shift) << 16;
  }

  CGX_AGENT void take(uint32_t row, uint32_t column, uint32_t &low, uint32_t &high) const {
    const uint32_t block = row / blockRows, bit = row % blockRows * bits, k = bit / 16, shift = bit % 16;
    constexpr uint32_t mask = (1u << bits) - 1u;
    low = (word[block][k][column] & 0xffffu) >> shift;
    high = word[block][k][column] >> (16 + shift);
    if (shift + bits > 16) {
      low |= word[block][k + 1][column] << (16 - shift);
      high |= word[block][k + 1][column] >> 16 << (16 - shift);
    }
    low &= mask;
    high &= mask;
  }

  /// `levels` is where the tile's begin, `lane` one of its eight. With pairs where they are aligned.
  CGX_AGENT void store(uint8_t *levels, uint32_t lane, bool aligned) const {
    forEachWord([&](uint32_t block, uint32_t k) {
      uint8_t *to = levels + block * packingBlockBytes(bits) + k * 64 + lane * 8;
      if (aligned)
        return storeTo(to, Pair<uint32_t>{word[block][k][0], word[block][k][1]});
      storeTo(to, word[block][k][0]);
      storeTo(to + 4, word[block][k][1]);
    });
  }

  CGX_AGENT void load(const uint8_t *levels, uint32_t lane, bool aligned) {
    forEachWord([&](uint32_t block, uint32_t k) {
      const uint8_t *from = levels + block * packingBlockBytes(bits) + k * 64 + lane * 8;
      const auto both = aligned ? loadFrom<Pair<uint32_t>>(from)
                                : Pair<uint32_t>{loadFrom<uint32_t>(from), loadFrom<uint32_t>(from + 4)};
      word[block][k][0] = both.first;
      word[block][k][1] = both.second;
    });
  }

private:
  template <typename Step> CGX_AGENT static void forEachWord(const Step &step) {
    unrolled<blocks>([&](uint32_t block) { unrolled<wordsOfColumn>([&](uint32_t k) { step(block, k); }); });
  }
};

/// Calls step(row, column) for the column pairs of `count` rows.
template <uint32_t count, typename Step> CGX_AGENT void forEachPair(uint32_t firstRow, const Step &step) {
  unrolled<count>([&](uint32_t row) { unrolled<2>([&](uint32_t column) { step(firstRow + row, column); }); });
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TILES_H
