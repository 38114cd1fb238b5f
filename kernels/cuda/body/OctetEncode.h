//===-- OctetEncode.h - quantize in one pass over memory -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fast path of quantize: uniform levels over the range of a bucket. Eight lanes hold an octet in
// registers while they find its scales and pack its levels, so that every element is read once and every byte
// written once. A bucket is some rows of an octet, or one, two or four octets that lie side by side in a
// warp.
#ifndef CGX_KERNELS_CUDA_BODY_OCTETENCODE_H
#define CGX_KERNELS_CUDA_BODY_OCTETENCODE_H

#include "Encode.h"
#include "OctetDecode.h"
#include "Octets.h"

namespace cgx::cuda {

/// Extremes of one bucket as far as a lane has seen them.
struct Extremes {
  float low, high;
  float spoiled; ///< 0; NaN if an element is not finite

  CGX_BODY void add(float x) {
    low = x < low ? x : low;
    high = x > high ? x : high;
    spoiled = fusedMultiplyAdd(x, 0.0f, spoiled);
  }
};

struct CombineExtremes {
  CGX_BODY Extremes operator()(Extremes a, Extremes b) const {
    return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high, a.spoiled + b.spoiled};
  }
};

/// Quantizes octets, of tensors or of owners' sums. `bucketRows` rows of an octet share a scale. With error
/// feedback, the residual is added on the way into registers, and the new one goes from there to memory.
template <uint32_t bits, uint32_t bucketRows, bool isSum, bool hasFeedback> struct EncodeOctets {
  static constexpr uint32_t sharedBytes = sizeof(RandomStream);
  static constexpr uint32_t residentBlocks = 2; ///< the elements of 16 rows would take all registers for one
  static constexpr uint32_t rows = octetRows(bits);
  static constexpr uint32_t buckets = rows / bucketRows;
  static constexpr uint32_t elementsOf = octetElements(bits);
  EncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem item = table.items[slice.item]; // a copy: in registers
    if (!table.isSound(crew, item, slice))
      return;
    RandomStream *stream = crew.template shared<RandomStream>();
    crew.once([&] { *stream = makeRandomStream(table.keyOf(item), randomWordIndex(item.firstElement)); });
    writeHeader(crew, item, slice);
    const RandomStream random = *stream;
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t four) {
      encode(lanes, item, random, uint32_t(four) * 4);
    });
  }

private:
  /// Encodes four octets, or as many as there are.
  template <typename Lanes>
  CGX_BODY static void encode(const Lanes &lanes, const EncodeItem &item, RandomStream random,
                              uint32_t firstOctet) {
    PerLane<Lanes, OctetPart<bits>> elements;
    PerLane<Lanes, Extremes> extremes[buckets];
    lanes.forEach([&](uint32_t lane) {
      const uint32_t octet = firstOctet + lane / octetLanes;
      if (octet < item.octets.count)
        load(item, octet, lane % octetLanes, elements[lane]);
      else // takes part in what lanes do together, with what nobody looks at
        elements[lane] = {};
    });
    unrolled<buckets>([&](uint32_t bucket) {
      lanes.forEach([&](uint32_t lane) { extremes[bucket][lane] = measure(item, elements[lane], bucket); });
      extremes[bucket] =
          combineLanes(lanes, extremes[bucket], item.octets.ofBucket * octetLanes, CombineExtremes());
    });
    lanes.forEach([&](uint32_t lane) {
      const uint32_t octet = firstOctet + lane / octetLanes;
      if (octet >= item.octets.count)
        return;
      OctetWords<bits> words;
      words.clear();
      unrolled<buckets>([&](uint32_t bucket) {
        const BucketScale scale = scaleOf(item, octet, lane, bucket, extremes[bucket][lane]);
        if (isFiniteScale(scale)) // else levels are 0
          putLevels(item, makeFixedPointMap(scale, bits), random, octet, lane % octetLanes, bucket,
                    elements[lane], words);
        if constexpr (hasFeedback)
          takeLosses(item, scale, octet, lane % octetLanes, bucket, words, elements[lane]);
      });
      uint8_t *levels = item.body + item.sections.codes + uint64_t(octet) * (elementsOf / 8 * bits);
      words.store(levels, lane % octetLanes, item.octets.aligned);
    });
    if constexpr (hasFeedback)
      storeLosses(lanes, item, firstOctet, elements);
  }

  CGX_BODY static void load(const EncodeItem &item, uint32_t octet, uint32_t lane, OctetPart<bits> &part) {
    const uint64_t first = uint64_t(octet) * elementsOf + 2 * lane;
    if constexpr (isSum) {
      part = {};
      for (uint32_t i = 0; i < item.contributionCount; ++i)
        addContribution(item, item.contributions[i], octet, lane, part);
      forEachPair<rows>(0, [&](uint32_t row, uint32_t column) {
        RowPart &sums = part.row[row];
        if (item.divisor != 1.0f) {
          sums.low[column] /= item.divisor;
          sums.high[column] /= item.divisor;
        }
        sums.low[column] = roundSum(item.source, sums.low[column]);
        sums.high[column] = roundSum(item.source, sums.high[column]);
      });
    } else {
      unrolled<rows>([&](uint32_t row) {
        loadPair(item.source, item.input, first + row * packingColumns, part.row[row].low);
        loadPair(item.source, item.input, first + row * packingColumns + 16, part.row[row].high);
      });
    }
    if constexpr (hasFeedback)
      addResiduals(item.residual, first, part);
  }

  CGX_BODY static void addResiduals(const KeptResidual &kept, uint64_t first, OctetPart<bits> &part) {
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
  CGX_BODY static float encoded(const EncodeItem &item, float x) {
    return hasFeedback ? roundTo(item.type, x) : x;
  }

  CGX_BODY static void addContribution(const EncodeItem &item, const PayloadItem &payload, uint32_t octet,
                                       uint32_t lane, OctetPart<bits> &part) {
    decodeOctet<bits, bucketRows>(item.codec, payload.payload + payload.bodyBegin, item.sections, item.octets,
                                  octet, lane, largestValue(CGX_F32),
                                  [&](uint32_t row, uint32_t column, float low, float high) {
                                    part.row[row].low[column] += low;
                                    part.row[row].high[column] += high;
                                  });
  }

  CGX_BODY static Extremes measure(const EncodeItem &item, const OctetPart<bits> &part, uint32_t bucket) {
    const float first = encoded(item, part.row[bucket * bucketRows].low[0]);
    Extremes extremes = {first, first, 0.0f};
    forEachPair<bucketRows>(bucket * bucketRows, [&](uint32_t row, uint32_t column) {
      extremes.add(encoded(item, part.row[row].low[column]));
      extremes.add(encoded(item, part.row[row].high[column]));
    });
    return extremes;
  }

  /// The scale of a bucket, which its first lane stores.
  CGX_BODY static BucketScale scaleOf(const EncodeItem &item, uint32_t octet, uint32_t lane, uint32_t bucket,
                                      Extremes extremes) {
    const bool finite = extremes.spoiled == 0.0f;
    const BucketScale scale =
        finite ? makeUniformScale(item.codec, BucketMeasure{extremes.low, extremes.high, 0.0f, 0})
               : notFiniteScale();
    if (lane % (item.octets.ofBucket * octetLanes) == 0)
      storeScale(item.body + item.sections.scales, item.codec,
                 uint64_t(octet / item.octets.ofBucket) * buckets + bucket, scale);
    return scale;
  }

  CGX_BODY static void putLevels(const EncodeItem &item, FixedPointMap map, RandomStream random,
                                 uint32_t octet, uint32_t lane, uint32_t bucket, const OctetPart<bits> &part,
                                 OctetWords<bits> &words) {
    // A word of random numbers serves the two elements of a column pair.
    const bool isStochastic = item.codec.rounding == CGX_ROUND_STOCHASTIC;
    const uint32_t firstWord =
        uint32_t(randomWordIndex(item.firstElement)) + octet * (elementsOf / 2) + 2 * lane;
    forEachPair<bucketRows>(bucket * bucketRows, [&](uint32_t row, uint32_t column) {
      uint32_t low = 1u << (15u - bits), high = low;
      if (isStochastic) {
        const uint32_t word = randomWord(random, firstWord + row * 16 + column);
        low = (word & 0xffffu) >> bits;
        high = word >> (16 + bits);
      }
      words.put(row, column, levelOf(map, encoded(item, part.row[row].low[column]), low),
                levelOf(map, encoded(item, part.row[row].high[column]), high));
    });
  }

  /// Puts what is lost of the elements of a bucket in their place.
  CGX_BODY static void takeLosses(const EncodeItem &item, BucketScale scale, uint32_t octet, uint32_t lane,
                                  uint32_t bucket, const OctetWords<bits> &words, OctetPart<bits> &part) {
    const LevelMap map(scale, largestValue(CGX_F32));
    const KeptResidual &kept = item.residual;
    forEachPair<bucketRows>(bucket * bucketRows, [&](uint32_t row, uint32_t column) {
      uint32_t low, high;
      words.take(row, column, low, high);
      const uint64_t i = uint64_t(octet) * elementsOf + row * packingColumns + 2 * lane + column;
      float &atLow = part.row[row].low[column], &atHigh = part.row[row].high[column];
      atLow = lossOf(atLow, 0.0f + map.valueOf(low), kept.decay, [&] { return loadResidual(kept, i); });
      atHigh =
          lossOf(atHigh, 0.0f + map.valueOf(high), kept.decay, [&] { return loadResidual(kept, i + 16); });
    });
  }

  /// Four rows are a block of residuals.
  template <typename Lanes>
  CGX_BODY static void storeLosses(const Lanes &lanes, const EncodeItem &item, uint32_t firstOctet,
                                   const PerLane<Lanes, OctetPart<bits>> &losses) {
    constexpr uint32_t blockRows = residualBlock / packingColumns;
    const KeptResidual &kept = item.residual;
    const auto firstOf = [&](uint32_t lane) { return uint64_t(firstOctet + lane / octetLanes) * elementsOf; };
    unrolled<rows / blockRows>([&](uint32_t block) {
      PerLane<Lanes, float> largest;
      lanes.forEach([&](uint32_t lane) {
        largest[lane] = 0.0f;
        forEachPair<blockRows>(block * blockRows, [&](uint32_t row, uint32_t column) {
          const RowPart &of = losses[lane].row[row];
          largest[lane] = largerMagnitude(largerMagnitude(largest[lane], of.low[column]), of.high[column]);
        });
      });
      const PerLane<Lanes, float> scale = residualScales(lanes, kept, largest, octetLanes);
      lanes.forEach([&](uint32_t lane) {
        if (firstOctet + lane / octetLanes >= item.octets.count)
          return;
        if (lane % octetLanes == 0)
          storeResidualScale(kept, firstOf(lane) / residualBlock + block, scale[lane]);
        const uint64_t first = firstOf(lane) + 2 * (lane % octetLanes);
        unrolled<blockRows>([&](uint32_t inBlock) {
          const uint32_t row = block * blockRows + inBlock;
          const RowPart &of = losses[lane].row[row];
          storeResidualPair(kept, first + row * packingColumns, of.low, scale[lane]);
          storeResidualPair(kept, first + row * packingColumns + 16, of.high, scale[lane]);
        });
      });
    });
  }

  /// cutFraction(fixedPoint()), the exponent's bits cut off at the end: levels leave no room for a carry.
  CGX_BODY static uint32_t levelOf(FixedPointMap map, float x, uint32_t offset) {
    const float distance = fusedMultiplyAdd(x, map.prescale, map.shift);
    return ((floatBits(fusedMultiplyAdd(distance, map.factor, fixedPointMagic)) + offset) >> (16u - bits)) &
           ((1u << bits) - 1u);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_OCTETENCODE_H
