//===-- TileEncode.h - Encodes quantize in one pass over memory -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the fast path of quantize, for uniform levels over the range of a bucket. Eight lanes hold a tile
// in registers while they find its scales and pack its levels, so every element is read once and every byte
// written once. A bucket is a few rows of a tile, or one, two or four neighbouring tiles in a warp.
#ifndef CGX_KERNELS_CUDA_AGENT_TILEENCODE_H
#define CGX_KERNELS_CUDA_AGENT_TILEENCODE_H

#include "Encode.h"
#include "TileDecode.h"
#include "Tiles.h"

namespace cgx::cuda {

/// The extremes of one bucket that a lane has seen: NaN or infinite if an element is.
struct Extremes {
  float low, high;

  CGX_AGENT void add(Extremes other) {
    low = smallerOrNan(low, other.low);
    high = largerOrNan(high, other.high);
  }
};

/// The properties of an encoding that are known when its kernel is compiled.
template <Kept kept_, bool isKnown_, Source source_ = Source::f32, bool isStochastic_ = false>
struct TileChoice {
  static constexpr Kept kept = kept_;       ///< the storage of a residual, which is always known
  static constexpr bool isKnown = isKnown_; ///< whether the rest is; if not, it is read once for each tile
  static constexpr Source source = source_; ///< of the input, or of a sum that is multiplied by a reciprocal
  static constexpr bool isStochastic = isStochastic_; ///< the rounding
};

/// Quantizes tiles of tensors or of owners' sums. `bucketRows` rows of a tile share a scale. With error
/// feedback, the residual is added as elements come into registers, and the new residual is stored from
/// there.
template <uint32_t bits, uint32_t bucketRows, bool isSum, typename Choice> struct EncodeTiles {
  static constexpr uint32_t sharedBytes = sizeof(RandomStream);
  static constexpr uint32_t residentBlocks = 2; ///< elements of 16 rows would take all registers
  static constexpr uint32_t rows = tileRows(bits);
  static constexpr uint32_t columns = tileColumns(bits);
  static constexpr uint32_t lanesOf = tileLanes(bits);
  static constexpr uint32_t buckets = rows / bucketRows;
  static constexpr uint32_t elementsOf = tileElements(bits);
  static constexpr bool hasFeedback = Choice::kept != Kept::nothing;
  EncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor desc = table.descs[range.desc]; // a copy, which stays in registers
    if (!table.isSound(threads, desc, range))
      return;
    RandomStream random = {};
    if (isStochastic(desc)) {
      RandomStream *stream = threads.template shared<RandomStream>();
      threads.once(
          [&] { *stream = makeRandomStream(table.keyOf(desc), randomWordIndex(desc.firstElement)); });
      random = *stream;
      random.offset += uint32_t(randomWordIndex(desc.firstElement));
    }
    writeHeader(threads, desc, range);
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t index) {
      encode(lanes, desc, random, uint32_t(index) * warpTiles(bits));
    });
  }

private:
  using Part = TilePart<bits>;

  CGX_AGENT static bool isStochastic(const EncodeDescriptor &desc) {
    return Choice::isKnown ? Choice::isStochastic : desc.codec.rounding == CGX_ROUND_STOCHASTIC;
  }

  /// Calls step with the chosen rounding as a type.
  template <typename Step>
  CGX_AGENT static void withRounding(const EncodeDescriptor &desc, const Step &step) {
    if constexpr (Choice::isKnown)
      step(std::bool_constant<Choice::isStochastic>());
    else
      withFlag(isStochastic(desc), step);
  }

  template <typename Step> CGX_AGENT static void withInput(const EncodeDescriptor &desc, const Step &step) {
    if constexpr (Choice::isKnown)
      step(Constant<Choice::source>());
    else
      withSource(desc.source, step);
  }

  /// Calls step with the type that an element or sum is rounded to after its residual is added; f32 if it
  /// is rounded already.
  template <typename Step>
  CGX_AGENT static void withRoundedType(const EncodeDescriptor &desc, const Step &step) {
    if constexpr (!hasFeedback || (Choice::isKnown && Choice::source == Source::f32))
      step(Constant<CGX_F32>());
    else
      withType(desc.type, step);
  }

  /// Encodes as many tiles as a warp holds, or as are left.
  template <typename Warp>
  CGX_AGENT static void encode(const Warp &lanes, const EncodeDescriptor &desc, RandomStream random,
                               uint32_t firstTile) {
    PerLane<Warp, Part> elements;
    PerLane<Warp, bool> areNumbers = {}; // of the losses
    PerLane<Warp, Extremes> extremes[buckets];
    lanes.forEach([&](uint32_t lane) {
      const uint32_t tile = firstTile + lane / lanesOf;
      if (tile < desc.tiles.count)
        load(desc, tile, lane % lanesOf, elements[lane]);
      else // these lanes take part in warp operations, and their results are not used
        elements[lane] = {};
    });
    lanes.forEach([&](uint32_t lane) {
      withRoundedType(desc, [&](auto type) {
        unrolled<buckets>([&](uint32_t bucket) {
          extremes[bucket][lane] = measure<decltype(type)::value>(elements[lane], bucket);
        });
      });
    });
    unrolled<buckets>([&](uint32_t bucket) { combine(lanes, desc, extremes[bucket]); });
    lanes.forEach([&](uint32_t lane) {
      const uint32_t tile = firstTile + lane / lanesOf;
      if (tile >= desc.tiles.count)
        return;
      TileWords<bits> words;
      words.clear();
      BucketScale scale[buckets];
      unrolled<buckets>([&](uint32_t bucket) {
        scale[bucket] = scaleOf(desc, tile, lane, bucket, extremes[bucket][lane]);
        if (isFiniteScale(scale[bucket])) // else the levels stay 0
          putLevels(desc, makeFixedPointMap(scale[bucket], bits), random, tile, lane % lanesOf, bucket,
                    elements[lane], words);
      });
      uint8_t *levels = desc.body + desc.sections.codes + uint64_t(tile) * (elementsOf / 8 * bits);
      words.store(levels, lane % lanesOf, desc.tiles.aligned);
      if constexpr (hasFeedback) {
        areNumbers[lane] = true;
        unrolled<buckets>([&](uint32_t bucket) {
          areNumbers[lane] &=
              takeLosses(desc, scale[bucket], tile, lane % lanesOf, bucket, words, elements[lane]);
        });
      }
    });
    if constexpr (hasFeedback)
      storeLosses(lanes, desc, firstTile, elements, areNumbers);
  }

  CGX_AGENT static void load(const EncodeDescriptor &desc, uint32_t tile, uint32_t lane, Part &part) {
    const uint64_t first = firstIndex<bits>(tile, lane);
    if constexpr (isSum) {
      part = {};
      sumTile<bits, bucketRows, Choice::isKnown>(desc, tile, lane, part);
    }
    withInput(desc, [&](auto source) {
      constexpr Source from = decltype(source)::value;
      if constexpr (!isSum)
        loadTile<from>(part, desc.input, first, desc.tiles.wide);
      else
        forEachRow<rows>(0, [&](uint32_t row) {
          roundNumbers<roundedTypeOf(from)>(part.row[row].low);
          roundNumbers<roundedTypeOf(from)>(part.row[row].high);
        });
    });
    if constexpr (hasFeedback)
      withFlag(desc.tiles.wide, [&](auto wide) {
        constexpr bool isWide = decltype(wide)::value;
        forEachRow<rows>(0, [&](uint32_t row) {
          const uint64_t index = first + row * packingColumns;
          addResiduals<Choice::kept, isWide>(desc.residual, index, part.row[row].low);
          addResiduals<Choice::kept, isWide>(desc.residual, index + packingColumns / 2, part.row[row].high);
        });
      });
  }

  /// Returns the elements of a row as they are encoded.
  template <cgx_element_type type> CGX_AGENT static RowPart<bits> encoded(RowPart<bits> row) {
    roundNumbers<type>(row.low);
    roundNumbers<type>(row.high);
    return row;
  }

  template <cgx_element_type type> CGX_AGENT static Extremes measure(const Part &part, uint32_t bucket) {
    Extremes extremes = {};
    forEachRow<bucketRows>(0, [&](uint32_t row) {
      const RowPart<bits> x = encoded<type>(part.row[bucket * bucketRows + row]);
      if (row == 0)
        extremes = {x.low[0], x.low[0]};
      unrolled<columns>([&](uint32_t column) {
        extremes.add({x.low[column], x.low[column]});
        extremes.add({x.high[column], x.high[column]});
      });
    });
    return extremes;
  }

  /// Combines the extremes that the lanes of a bucket have seen.
  template <typename Warp>
  CGX_AGENT static void combine(const Warp &lanes, const EncodeDescriptor &desc,
                                PerLane<Warp, Extremes> &extremes) {
    const auto join = [&](uint32_t mask) {
      const PerLane<Warp, Extremes> other = lanes.shuffleXor(extremes, mask);
      lanes.forEach([&](uint32_t lane) { extremes[lane].add(other[lane]); });
    };
    unrolled<lanesOf == 4 ? 2 : 3>([&](uint32_t i) { join(1u << i); });
    if constexpr (buckets == 1)
      for (uint32_t mask = lanesOf; mask < lanesOf << desc.tiles.ofBucketLog; mask *= 2)
        join(mask);
  }

  /// Returns the scale of a bucket, which the bucket's first lane stores.
  CGX_AGENT static BucketScale scaleOf(const EncodeDescriptor &desc, uint32_t tile, uint32_t lane,
                                       uint32_t bucket, Extremes extremes) {
    cgx_codec codec = desc.codec;
    codec.bits = bits;
    codec.rounding = CGX_ROUND_NEAREST; // only a random shift would change scales, and tiles have none
    const bool finite = isFinite(extremes.low) && isFinite(extremes.high);
    const BucketScale scale =
        finite ? makeUniformScale(codec, BucketMeasure{extremes.low, extremes.high, 0.0f, 0})
               : notFiniteScale();
    if (lane % (lanesOf << desc.tiles.ofBucketLog) == 0)
      storeScale(desc.body + desc.sections.scales, codec, (tile >> desc.tiles.ofBucketLog) * buckets + bucket,
                 scale);
    return scale;
  }

  CGX_AGENT static void putLevels(const EncodeDescriptor &desc, FixedPointMap map, RandomStream random,
                                  uint32_t tile, uint32_t lane, uint32_t bucket, const Part &part,
                                  TileWords<bits> &words) {
    withRounding(desc, [&](auto stochastic) {
      withRoundedType(desc, [&](auto type) {
        forEachRow<bucketRows>(bucket * bucketRows, [&](uint32_t row) {
          const RowPart<bits> x = encoded<decltype(type)::value>(part.row[row]);
          putRow<decltype(stochastic)::value>(map, random, tile * (elementsOf / 2) + columns * lane, row, x,
                                              words);
        });
      });
    });
  }

  /// Adds the levels of a row. Levels are the top of fixed-point numbers of 16 bits, two in a word. They
  /// leave no space for a carry, so both are rounded by one addition: half a level is added as each number is
  /// made, or the random fractions of one word, which serves both.
  template <bool isStochastic>
  CGX_AGENT static void putRow(FixedPointMap map, RandomStream random, uint32_t firstWord, uint32_t row,
                               const RowPart<bits> &x, TileWords<bits> &words) {
    constexpr float half = isStochastic ? 0.0f : float(1u << (15u - bits));
    constexpr uint32_t fractions = ((1u << (16u - bits)) - 1u) * 0x10001u;
    const auto fixedOf = [&](float value) {
      const float distance = fusedMultiplyAdd(value, map.prescale, map.shift);
      return floatBits(fusedMultiplyAdd(distance, map.factor, fixedPointMagic + half));
    };
    unrolled<columns>([&](uint32_t column) {
      uint32_t fixed = lowerHalves(fixedOf(x.low[column]), fixedOf(x.high[column]));
      if constexpr (isStochastic)
        fixed += randomWord(random, firstWord + row * 16 + column) >> bits & fractions;
      words.put(row, column, fixed);
    });
  }

  /// Replaces the elements of a bucket by their losses, as lossOf() computes them. Returns false if a loss
  /// may not be finite.
  CGX_AGENT static bool takeLosses(const EncodeDescriptor &desc, BucketScale scale, uint32_t tile,
                                   uint32_t lane, uint32_t bucket, const TileWords<bits> &words, Part &part) {
    const LevelMap map(scale, bits, largestValue(CGX_F32));
    KeptResidual kept = desc.residual;
    kept.storage = Choice::kept == Kept::f32    ? ResidualStorage::F32
                   : Choice::kept == Kept::bf16 ? ResidualStorage::Bf16
                                                : ResidualStorage::Int8;
    float spoiled = 0.0f; // NaN if a loss is not finite
    const auto forEachElement = [&](const auto &visit) {
      forEachRow<bucketRows>(bucket * bucketRows, [&](uint32_t row) {
        unrolled<columns>([&](uint32_t column) {
          visit(row, column, /*isHigh=*/false, part.row[row].low[column]);
          visit(row, column, /*isHigh=*/true, part.row[row].high[column]);
        });
      });
    };
    withFlag(map.isPlain, [&](auto isPlain) {
      forEachElement([&](uint32_t row, uint32_t column, bool isHigh, float &x) {
        x -= 0.0f + map.template valueOf<decltype(isPlain)::value>(words.number(row, column, isHigh));
        spoiled = fusedMultiplyAdd(x, 0.0f, spoiled);
      });
    });
    if (spoiled == 0.0f)
      forEachElement([&](uint32_t, uint32_t, bool, float &x) { x *= kept.decay; });
    else
      forEachElement([&](uint32_t row, uint32_t column, bool isHigh, float &x) {
        const uint64_t i = firstIndex<bits>(tile, lane) + row * packingColumns + column;
        x = isFinite(x) ? kept.decay * x : loadResidual(kept, isHigh ? i + packingColumns / 2 : i);
        if (Choice::kept == Kept::int8 && x != x)
          x = 0.0f; // keepAsInt8() stores a NaN as 0
      });
    return spoiled == 0.0f;
  }

  /// Stores losses as residuals. Four rows are a block of them.
  template <typename Warp>
  CGX_AGENT static void storeLosses(const Warp &lanes, const EncodeDescriptor &desc, uint32_t firstTile,
                                    const PerLane<Warp, Part> &losses,
                                    const PerLane<Warp, bool> &areNumbers) {
    constexpr uint32_t blockRows = residualBlock / packingColumns;
    const KeptResidual &kept = desc.residual;
    unrolled<rows / blockRows>([&](uint32_t block) {
      PerLane<Warp, float> largest;
      if constexpr (Choice::kept == Kept::int8)
        lanes.forEach([&](uint32_t lane) {
          largest[lane] = 0.0f;
          forEachRow<blockRows>(block * blockRows, [&](uint32_t row) {
            const RowPart<bits> &of = losses[lane].row[row];
            unrolled<columns>([&](uint32_t column) {
              largest[lane] =
                  largerMagnitude(largerMagnitude(largest[lane], of.low[column]), of.high[column]);
            });
          });
        });
      PerLane<Warp, float> scale = {};
      if constexpr (Choice::kept == Kept::int8)
        scale = residualScales(lanes, kept, largest, lanesOf);
      lanes.forEach([&](uint32_t lane) {
        const uint32_t tile = firstTile + lane / lanesOf;
        if (tile >= desc.tiles.count)
          return;
        if (Choice::kept == Kept::int8 && lane % lanesOf == 0)
          storeTo(kept.scales + tile * (elementsOf / residualBlock) + block, scale[lane]);
        const Int8Divider divider(scale[lane]);
        const uint64_t first = firstIndex<bits>(tile, lane % lanesOf);
        withPlace<Choice::kept == Kept::bf16>(desc.tiles.wide, areNumbers[lane], [&](auto wide, auto number) {
          constexpr bool isWide = decltype(wide)::value, isNumber = decltype(number)::value;
          forEachRow<blockRows>(block * blockRows, [&](uint32_t row) {
            const RowPart<bits> &of = losses[lane].row[row];
            const uint64_t index = first + row * packingColumns;
            storeResiduals<Choice::kept, isWide, isNumber>(kept, index, of.low, divider);
            storeResiduals<Choice::kept, isWide, isNumber>(kept, index + packingColumns / 2, of.high,
                                                           divider);
          });
        });
      });
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TILEENCODE_H
