//===-- TileDecode.h - quantize back, eight lanes a tile ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_TILEDECODE_H
#define CGX_KERNELS_CUDA_AGENT_TILEDECODE_H

#include "Decode.h"
#include "Pairs.h"
#include "Tiles.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx::cuda {

/// levelValue() of many levels: what does not depend on the level is done once.
struct LevelMap {
  BucketScale scale;
  float limit;
  bool finite;

  CGX_AGENT LevelMap(BucketScale scale, float limit)
      : scale(scale), limit(limit), finite(isFiniteScale(scale)) {}

  CGX_AGENT float valueOf(uint32_t level) const {
    // The level behind 2^23: a number without a conversion, which a GPU is slow at.
    const float number = floatFromBits(floatBits(8388608.0f) | level) - 8388608.0f;
    const float value = fusedMultiplyAdd(number, scale.unit, scale.minimum);
    const float held = value > limit ? limit : value < -limit ? -limit : value;
    return finite ? held : quietNan();
  }
};

/// Calls take(row, column, low, high) with the values of the elements that a lane has of a tile.
template <uint32_t bits, uint32_t bucketRows, typename Take>
CGX_AGENT void decodeTile(const cgx_codec &codec, const uint8_t *body, const Sections &sections,
                          const TileCounts &tiles, uint32_t tile, uint32_t lane, float limit,
                          const Take &take) {
  constexpr uint32_t rows = tileRows(bits), buckets = rows / bucketRows;
  TileWords<bits> words;
  words.load(body + sections.codes + uint64_t(tile) * (tileElements(bits) / 8 * bits), lane, tiles.aligned);
  unrolled<buckets>([&](uint32_t bucket) {
    const uint64_t number = uint64_t(tile / tiles.ofBucket) * buckets + bucket;
    const LevelMap map(loadScale(body + sections.scales, codec, number), limit);
    forEachPair<bucketRows>(bucket * bucketRows, [&](uint32_t row, uint32_t column) {
      uint32_t low, high;
      words.take(row, column, low, high);
      take(row, column, map.valueOf(low), map.valueOf(high));
    });
  });
}

template <uint32_t bits, uint32_t bucketRows, Sink sink> struct DecodeTiles {
  static constexpr uint32_t sharedBytes = 0;
  static constexpr uint32_t rows = tileRows(bits);
  DecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor desc = table.descs[range.desc]; // a copy: in registers
    if (!table.isSound(threads, desc, range))
      return;
    // Indices are lanes of tiles.
    threads.forEachIndex(range.begin, range.end,
                         [&](uint64_t i) { decode(desc, uint32_t(i / tileLanes), uint32_t(i % tileLanes)); });
  }

private:
  CGX_AGENT static void decode(const DecodeDescriptor &desc, uint32_t tile, uint32_t lane) {
    TilePart<bits> part;
    const float limit = largestValue(sink == Sink::add ? CGX_F32 : desc.type);
    const uint64_t first = uint64_t(tile) * tileElements(bits) + 2 * lane;
    if constexpr (sink == Sink::add)
      unrolled<rows>([&](uint32_t row) {
        loadPair(Source::f32, desc.output, first + row * packingColumns, part.row[row].low);
        loadPair(Source::f32, desc.output, first + row * packingColumns + 16, part.row[row].high);
      });
    decodeTile<bits, bucketRows>(desc.codec, desc.body, desc.sections, desc.tiles, tile, lane, limit,
                                 [&](uint32_t row, uint32_t column, float low, float high) {
                                   RowPart &to = part.row[row];
                                   to.low[column] = sink == Sink::add ? to.low[column] + low : low;
                                   to.high[column] = sink == Sink::add ? to.high[column] + high : high;
                                 });
    const cgx_element_type type = sink == Sink::add ? CGX_F32 : desc.type;
    unrolled<rows>([&](uint32_t row) {
      const RowPart &from = part.row[row];
      storePair(type, desc.output, first + row * packingColumns, from.low[0], from.low[1]);
      storePair(type, desc.output, first + row * packingColumns + 16, from.high[0], from.high[1]);
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TILEDECODE_H
