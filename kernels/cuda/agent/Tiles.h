//===-- Tiles.h - Whole blocks of packed levels in registers ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the layout of packing.h seen from a few lanes. A tile is a run of whole blocks. In each row of 32
// elements a lane has some columns; if they are four, elements 4 l ... 4 l + 3 and 16 + 4 l ... 16 + 4 l + 3
// belong to lane l. So levels are packed within a lane, elements 16 apart share the word of their random
// numbers, and memory is read and written in whole sectors.
#ifndef CGX_KERNELS_CUDA_AGENT_TILES_H
#define CGX_KERNELS_CUDA_AGENT_TILES_H

#include "Columns.h"
#include "cgx/arithmetic/packing.h"
#include "cgx/arithmetic/quantize.h"

namespace cgx::cuda {

/// Returns the rows of a tile: those of a block, and at least four.
constexpr uint32_t tileRows(uint32_t bits) { return packingRows(bits) < 4 ? 4 : packingRows(bits); }
constexpr uint32_t tileElements(uint32_t bits) { return tileRows(bits) * packingColumns; }

/// Returns the columns of a lane in each half of a row. They give a lane 32 elements, or 64 for tiles of 16
/// rows, which fit into registers.
constexpr uint32_t tileColumns(uint32_t bits) { return tileRows(bits) == 4 ? 4 : 2; }
constexpr uint32_t tileLanes(uint32_t bits) { return packingColumns / 2 / tileColumns(bits); }
/// Returns the number of tiles that a warp works on at once.
constexpr uint32_t warpTiles(uint32_t bits) { return laneCount / tileLanes(bits); }

/// A lane's elements of a row. Columns are in the order of their words.
template <uint32_t bits> struct RowPart {
  static constexpr uint32_t columns = tileColumns(bits);
  float low[columns];  ///< elements from columns * lane on
  float high[columns]; ///< the elements 16 further
};

template <uint32_t bits> struct TilePart {
  static constexpr uint32_t rows = tileRows(bits);
  RowPart<bits> row[rows];
};

/// Merges the lowest 16 bits of two words.
CGX_AGENT uint32_t lowerHalves(uint32_t low, uint32_t high) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(low, high, 0x5410);
#else
  return (low & 0xffffu) | high << 16;
#endif
}

/// Returns (bits & mask) | more. With constants, the compiler would make two instructions of it.
CGX_AGENT uint32_t maskedOr(uint32_t bits, uint32_t mask, uint32_t more) {
#if defined(__CUDA_ARCH__)
  uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(bits), "r"(mask), "r"(more));
  return result;
#else
  return (bits & mask) | more;
#endif
}

/// The levels of one lane: 32-bit words of two columns each, as they are stored.
template <uint32_t bits> struct TileWords {
  static constexpr uint32_t rows = tileRows(bits);
  static constexpr uint32_t columns = tileColumns(bits);
  static constexpr uint32_t blockRows = packingRows(bits);
  static constexpr uint32_t blocks = rows / blockRows;
  static constexpr uint32_t wordsOfColumn = blockRows * bits / 16;
  uint32_t word[blocks][wordsOfColumn][columns];

  CGX_AGENT void clear() {
    forEachWord([&](uint32_t block, uint32_t k) {
      unrolled<columns>([&](uint32_t column) { word[block][k][column] = 0; });
    });
  }

  /// Puts the levels of two elements of a row, which are 16 apart, into the two halves of their word. `fixed`
  /// holds them in the highest bits of its halves.
  CGX_AGENT void put(uint32_t row, uint32_t column, uint32_t fixed) {
    const uint32_t block = row / blockRows, bit = row % blockRows * bits, k = bit / 16, shift = bit % 16;
    if (shift + bits <= 16) {
      word[block][k][column] |= fixed >> (16 - bits - shift) & inBothHalves(((1u << bits) - 1u) << shift);
      return;
    }
    const uint32_t rest = shift + bits - 16; // bits of the next word
    word[block][k][column] |= fixed << rest & inBothHalves(0xffffu << shift & 0xffffu);
    word[block][k + 1][column] |= fixed >> (16 - rest) & inBothHalves((1u << rest) - 1u);
  }

  /// Returns a level as a float without a conversion, which is slow on a GPU: at its place in the word, it is
  /// the end of the mantissa of a power of two.
  CGX_AGENT float number(uint32_t row, uint32_t column, bool isHigh) const {
    const uint32_t block = row / blockRows, bit = row % blockRows * bits, k = bit / 16, shift = bit % 16;
    constexpr uint32_t mask = (1u << bits) - 1u;
    const uint32_t from = word[block][k][column];
    if (shift + bits <= 16) {
      const uint32_t power = (150u - shift) << 23; // 2^(23 - shift)
      return floatFromBits(maskedOr(isHigh ? from >> 16 : from, mask << shift, power)) - floatFromBits(power);
    }
    const uint32_t next = word[block][k + 1][column];
    const uint32_t level = isHigh ? from >> (16 + shift) | next >> 16 << (16 - shift)
                                  : (from & 0xffffu) >> shift | next << (16 - shift);
    return floatFromBits(floatBits(fixedPointMagic) | (level & mask)) - fixedPointMagic;
  }

  /// Stores the words of a tile whose levels begin at `levels`, two at once if they are aligned.
  CGX_AGENT void store(uint8_t *levels, uint32_t lane, bool aligned) const {
    withFlag(aligned, [&](auto areTwo) {
      forEachRun<decltype(areTwo)::value>(
          lane, [&](uint32_t block, uint32_t k, uint32_t first, uint32_t byte) {
            Neighbors<uint32_t, decltype(areTwo)::value ? 2 : 1> stored;
            unrolled<sizeof stored / 4>([&](uint32_t i) { stored.at[i] = word[block][k][first + i]; });
            storeTo(levels + byte, stored);
          });
    });
  }

  CGX_AGENT void load(const uint8_t *levels, uint32_t lane, bool aligned) {
    withFlag(aligned, [&](auto areTwo) {
      forEachRun<decltype(areTwo)::value>(
          lane, [&](uint32_t block, uint32_t k, uint32_t first, uint32_t byte) {
            const auto loaded = loadFrom<Neighbors<uint32_t, decltype(areTwo)::value ? 2 : 1>>(levels + byte);
            unrolled<sizeof loaded / 4>([&](uint32_t i) { word[block][k][first + i] = loaded.at[i]; });
          });
    });
  }

private:
  CGX_AGENT static constexpr uint32_t inBothHalves(uint32_t half) { return half | half << 16; }

  template <typename Step> CGX_AGENT static void forEachWord(const Step &step) {
    unrolled<blocks>([&](uint32_t block) { unrolled<wordsOfColumn>([&](uint32_t k) { step(block, k); }); });
  }

  /// Calls step(block, k, column, byte) for each load or store, which begins at that column and byte.
  template <bool areTwo, typename Step> CGX_AGENT static void forEachRun(uint32_t lane, const Step &step) {
    constexpr uint32_t width = areTwo ? 2 : 1;
    forEachWord([&](uint32_t block, uint32_t k) {
      unrolled<columns / width>([&](uint32_t run) {
        step(block, k, run * width,
             block * packingBlockBytes(bits) + k * 64 + (lane * columns + run * width) * 4);
      });
    });
  }
};

/// Calls step(row) for `count` rows.
template <uint32_t count, typename Step> CGX_AGENT void forEachRow(uint32_t firstRow, const Step &step) {
  unrolled<count>([&](uint32_t row) { step(firstRow + row); });
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TILES_H
