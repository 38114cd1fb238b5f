//===-- TileEncode.h - quantize in one pass over memory -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fast path of quantize: uniform levels over the range of a bucket. Eight lanes hold a tile in
// registers while they find its scales and pack its levels, so that every element is read once and every byte
// written once. A bucket is some rows of a tile, or one, two or four tiles that lie side by side in a
// warp.
#ifndef CGX_KERNELS_CUDA_AGENT_TILEENCODE_H
#define CGX_KERNELS_CUDA_AGENT_TILEENCODE_H

#include "Encode.h"
#include "TileDecode.h"
#include "Tiles.h"

namespace cgx::cuda {

/// Extremes of one bucket as far as a lane has seen them.
struct Extremes {
  float low, high;
  float spoiled; ///< 0; NaN if an element is not finite

  CGX_AGENT void add(float x) {
    low = x < low ? x : low;
    high = x > high ? x : high;
    spoiled = fusedMultiplyAdd(x, 0.0f, spoiled);
  }
};

struct CombineExtremes {
  CGX_AGENT Extremes operator()(Extremes a, Extremes b) const {
    return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high, a.spoiled + b.spoiled};
  }
};

/// Quantizes tiles, of tensors or of owners' sums. `bucketRows` rows of a tile share a scale. With error
/// feedback, the residual is added on the way into registers, and the new one goes from there to memory.
template <uint32_t bits, uint32_t bucketRows, bool isSum, bool hasFeedback> struct EncodeTiles {
  static constexpr uint32_t sharedBytes = sizeof(RandomStream);
  static constexpr uint32_t residentBlocks = 2; ///< the elements of 16 rows would take all registers for one
  static constexpr uint32_t rows = tileRows(bits);
  static constexpr uint32_t buckets = rows / bucketRows;
  static constexpr uint32_t elementsOf = tileElements(bits);
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor desc = table.descs[range.desc]; // a copy: in registers
    if (!table.isSound(threads, desc, range))
      return;
    RandomStream *stream = threads.template shared<RandomStream>();
    threads.once([&] { *stream = makeRandomStream(table.keyOf(desc), randomWordIndex(desc.firstElement)); });
    writeHeader(threads, desc, range);
    const RandomStream random = *stream;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t four) {
      encode(lanes, desc, random, uint32_t(four) * 4);
    });
  }

private:
  /// Encodes four tiles, or as many as there are.
  template <typename Warp>
  CGX_AGENT static void encode(const Warp &lanes, const EncodeDescriptor &desc, RandomStream random,
                               uint32_t firstTile) {
    PerLane<Warp, TilePart<bits>> elements;
    PerLane<Warp, Extremes> extremes[buckets];
    lanes.forEach([&](uint32_t lane) {
      const uint32_t tile = firstTile + lane / tileLanes;
      if (tile < desc.tiles.count)
        load(desc, tile, lane % tileLanes, elements[lane]);
      else // takes part in what lanes do together, with what nobody looks at
        elements[lane] = {};
    });
    unrolled<buckets>([&](uint32_t bucket) {
      lanes.forEach([&](uint32_t lane) { extremes[bucket][lane] = measure(desc, elements[lane], bucket); });
      extremes[bucket] =
          combineLanes(lanes, extremes[bucket], desc.tiles.ofBucket * tileLanes, CombineExtremes());
    });
    lanes.forEach([&](uint32_t lane) {
      const uint32_t tile = firstTile + lane / tileLanes;
      if (tile >= desc.tiles.count)
        return;
      TileWords<bits> words;
      words.clear();
      unrolled<buckets>([&](uint32_t bucket) {
        const BucketScale scale = scaleOf(desc, tile, lane, bucket, extremes[bucket][lane]);
        if (isFiniteScale(scale)) // else levels are 0
          putLevels(desc, makeFixedPointMap(scale, bits), random, tile, lane % tileLanes, bucket,
                    elements[lane], words);
        if constexpr (hasFeedback)
          takeLosses(desc, scale, tile, lane % tileLanes, bucket, words, elements[lane]);
      });
      uint8_t *levels = desc.body + desc.sections.codes + uint64_t(tile) * (elementsOf / 8 * bits);
      words.store(levels, lane % tileLanes, desc.tiles.aligned);
    });
    if constexpr (hasFeedback)
      storeLosses(lanes, desc, firstTile, elements);
  }

  CGX_AGENT static void load(const EncodeDescriptor &desc, uint32_t tile, uint32_t lane,
                             TilePart<bits> &part) {
    const uint64_t first = uint64_t(tile) * elementsOf + 2 * lane;
    if constexpr (isSum) {
      part = {};
      for (uint32_t i = 0; i < desc.contributionCount; ++i)
        addContribution(desc, desc.contributions[i], tile, lane, part);
      forEachPair<rows>(0, [&](uint32_t row, uint32_t column) {
        RowPart &sums = part.row[row];
        if (desc.divisor != 1.0f) {
          sums.low[column] /= desc.divisor;
          sums.high[column] /= desc.divisor;
        }
        sums.low[column] = roundSum(desc.source, sums.low[column]);
        sums.high[column] = roundSum(desc.source, sums.high[column]);
      });
    } else {
      unrolled<rows>([&](uint32_t row) {
        loadPair(desc.source, desc.input, first + row * packingColumns, part.row[row].low);
        loadPair(desc.source, desc.input, first + row * packingColumns + 16, part.row[row].high);
      });
    }
    if constexpr (hasFeedback)
      addResiduals(desc.residual, first, part);
  }

  CGX_AGENT static void addResiduals(const KeptResidual &kept, uint64_t first, TilePart<bits> &part) {
    unrolled<rows>([&](uint32_t row) {
      float low[2], high[2];
      loadResidualPair(kept, first + row * packingColumns, low);
      loadResidualPair(kept, first + row * packingColumns + 16, high);
      unrolled<2>([&](uint32_t column) {
        part.row[row].low[column] += low[column];
        part.row[row].high[column] += high[column];
      });
    });
  }

  /// What is encoded of an element or a sum with its residual, which is rounded to the element type.
  CGX_AGENT static float encoded(const EncodeDescriptor &desc, float x) {
    return hasFeedback ? roundTo(desc.type, x) : x;
  }

  CGX_AGENT static void addContribution(const EncodeDescriptor &desc, const PayloadDescriptor &payload,
                                        uint32_t tile, uint32_t lane, TilePart<bits> &part) {
    decodeTile<bits, bucketRows>(desc.codec, payload.payload + payload.bodyBegin, desc.sections, desc.tiles,
                                 tile, lane, largestValue(CGX_F32),
                                 [&](uint32_t row, uint32_t column, float low, float high) {
                                   part.row[row].low[column] += low;
                                   part.row[row].high[column] += high;
                                 });
  }

  CGX_AGENT static Extremes measure(const EncodeDescriptor &desc, const TilePart<bits> &part,
                                    uint32_t bucket) {
    const float first = encoded(desc, part.row[bucket * bucketRows].low[0]);
    Extremes extremes = {first, first, 0.0f};
    forEachPair<bucketRows>(bucket * bucketRows, [&](uint32_t row, uint32_t column) {
      extremes.add(encoded(desc, part.row[row].low[column]));
      extremes.add(encoded(desc, part.row[row].high[column]));
    });
    return extremes;
  }

  /// The scale of a bucket, which its first lane stores.
  CGX_AGENT static BucketScale scaleOf(const EncodeDescriptor &desc, uint32_t tile, uint32_t lane,
                                       uint32_t bucket, Extremes extremes) {
    const bool finite = extremes.spoiled == 0.0f;
    const BucketScale scale =
        finite ? makeUniformScale(desc.codec, BucketMeasure{extremes.low, extremes.high, 0.0f, 0})
               : notFiniteScale();
    if (lane % (desc.tiles.ofBucket * tileLanes) == 0)
      storeScale(desc.body + desc.sections.scales, desc.codec,
                 uint64_t(tile / desc.tiles.ofBucket) * buckets + bucket, scale);
    return scale;
  }

  CGX_AGENT static void putLevels(const EncodeDescriptor &desc, FixedPointMap map, RandomStream random,
                                  uint32_t tile, uint32_t lane, uint32_t bucket, const TilePart<bits> &part,
                                  TileWords<bits> &words) {
    // A word of random numbers serves the two elements of a column pair.
    const bool isStochastic = desc.codec.rounding == CGX_ROUND_STOCHASTIC;
    const uint32_t firstWord =
        uint32_t(randomWordIndex(desc.firstElement)) + tile * (elementsOf / 2) + 2 * lane;
    forEachPair<bucketRows>(bucket * bucketRows, [&](uint32_t row, uint32_t column) {
      uint32_t low = 1u << (15u - bits), high = low;
      if (isStochastic) {
        const uint32_t word = randomWord(random, firstWord + row * 16 + column);
        low = (word & 0xffffu) >> bits;
        high = word >> (16 + bits);
      }
      words.put(row, column, levelOf(map, encoded(desc, part.row[row].low[column]), low),
                levelOf(map, encoded(desc, part.row[row].high[column]), high));
    });
  }

  /// Puts what is lost of the elements of a bucket in their place.
  CGX_AGENT static void takeLosses(const EncodeDescriptor &desc, BucketScale scale, uint32_t tile,
                                   uint32_t lane, uint32_t bucket, const TileWords<bits> &words,
                                   TilePart<bits> &part) {
    const LevelMap map(scale, largestValue(CGX_F32));
    const KeptResidual &kept = desc.residual;
    forEachPair<bucketRows>(bucket * bucketRows, [&](uint32_t row, uint32_t column) {
      uint32_t low, high;
      words.take(row, column, low, high);
      const uint64_t i = uint64_t(tile) * elementsOf + row * packingColumns + 2 * lane + column;
      float &atLow = part.row[row].low[column], &atHigh = part.row[row].high[column];
      atLow = lossOf(atLow, 0.0f + map.valueOf(low), kept.decay, [&] { return loadResidual(kept, i); });
      atHigh =
          lossOf(atHigh, 0.0f + map.valueOf(high), kept.decay, [&] { return loadResidual(kept, i + 16); });
    });
  }

  /// Four rows are a block of residuals.
  template <typename Warp>
  CGX_AGENT static void storeLosses(const Warp &lanes, const EncodeDescriptor &desc, uint32_t firstTile,
                                    const PerLane<Warp, TilePart<bits>> &losses) {
    constexpr uint32_t blockRows = residualBlock / packingColumns;
    const KeptResidual &kept = desc.residual;
    const auto firstOf = [&](uint32_t lane) { return uint64_t(firstTile + lane / tileLanes) * elementsOf; };
    unrolled<rows / blockRows>([&](uint32_t block) {
      PerLane<Warp, float> largest;
      lanes.forEach([&](uint32_t lane) {
        largest[lane] = 0.0f;
        forEachPair<blockRows>(block * blockRows, [&](uint32_t row, uint32_t column) {
          const RowPart &of = losses[lane].row[row];
          largest[lane] = largerMagnitude(largerMagnitude(largest[lane], of.low[column]), of.high[column]);
        });
      });
      const PerLane<Warp, float> scale = residualScales(lanes, kept, largest, tileLanes);
      lanes.forEach([&](uint32_t lane) {
        if (firstTile + lane / tileLanes >= desc.tiles.count)
          return;
        if (lane % tileLanes == 0)
          storeResidualScale(kept, firstOf(lane) / residualBlock + block, scale[lane]);
        const uint64_t first = firstOf(lane) + 2 * (lane % tileLanes);
        unrolled<blockRows>([&](uint32_t inBlock) {
          const uint32_t row = block * blockRows + inBlock;
          const RowPart &of = losses[lane].row[row];
          storeResidualPair(kept, first + row * packingColumns, of.low, scale[lane]);
          storeResidualPair(kept, first + row * packingColumns + 16, of.high, scale[lane]);
        });
      });
    });
  }

  /// cutFraction(fixedPoint()), the exponent's bits cut off at the end: levels leave no space for a
  /// carry.
  CGX_AGENT static uint32_t levelOf(FixedPointMap map, float x, uint32_t offset) {
    const float distance = fusedMultiplyAdd(x, map.prescale, map.shift);
    return ((floatBits(fusedMultiplyAdd(distance, map.factor, fixedPointMagic)) + offset) >> (16u - bits)) &
           ((1u << bits) - 1u);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TILEENCODE_H
