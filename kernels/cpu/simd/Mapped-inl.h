//===-- Mapped-inl.h - Unevenly spaced levels in vectors --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file encodes and decodes exponential and learned levels through a buffer of level numbers.

#if defined(CGX_KERNELS_CPU_SIMD_MAPPED) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_MAPPED
#undef CGX_KERNELS_CPU_SIMD_MAPPED
#else
#define CGX_KERNELS_CPU_SIMD_MAPPED
#endif

#include "Decode-inl.h"
#include "Rows-inl.h"
#include "cgx/arithmetic/learned_table.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// A table of values that lanes look up by number.
struct LookUpTable {
  HWY_ALIGN float values[maxTableLevels] = {};
  bool isShort = false; ///< whether the table fits a vector

  void finish(uint32_t bits) { isShort = (1u << bits) <= lanes; }

  HWY_INLINE FloatVector operator()(WordVector numbers) const {
    const Floats floats;
    const hn::RebindToSigned<Floats> integers;
    const auto indices = hn::BitCast(integers, numbers);
    if (isShort)
      return hn::TableLookupLanes(hn::Load(floats, values), hn::IndicesFromVec(floats, indices));
    return hn::GatherIndex(floats, values, indices);
  }
};

/// Widens lanes of 16 bits.
HWY_INLINE WordVector widenHalves(const uint16_t *halves) {
  return hn::PromoteTo(Words(), hn::LoadU(NarrowHalves(), halves));
}

/// Computes roundsUp() in every lane.
HWY_INLINE FloatMask roundUp(FloatVector share, bool stochastic, WordVector random) {
  const Floats floats;
  const hn::RebindToSigned<Floats> integers;
  if (!stochastic)
    return hn::Gt(share, hn::Set(floats, 0.5f));
  const FloatVector fixed = hn::MulAdd(share, hn::Set(floats, 65536.0f), hn::Set(floats, 8388608.0f));
  const WordVector part = hn::And(hn::BitCast(Words(), fixed), hn::Set(Words(), 0x1ffff));
  return hn::RebindMask(floats, hn::Lt(hn::BitCast(integers, random), hn::BitCast(integers, part)));
}

/// Measures what the levels of a bucket need. Returns false if an element is not finite.
template <Source source>
bool measureMapped(const QuantizeEncodeArguments &arguments, uint64_t begin, uint64_t end,
                   BucketMeasure &measure) {
  float minimum, maximum;
  if (!extremesOfRun<source>(arguments.input, begin, end, minimum, maximum))
    return false;
  measure = completeMeasure(*arguments.codec, source, arguments.input, begin, end, minimum, maximum,
                            arguments.key, arguments.firstElement);
  return true;
}

/// The map from elements to the numbers of exponential levels.
template <Source source> struct ExponentialMap {
  const QuantizeEncodeArguments &arguments;
  float scale = 0.0f;

  bool startBucket(uint64_t bucket, uint64_t begin, uint64_t end) {
    const cgx_codec &codec = *arguments.codec;
    BucketMeasure measure;
    scale = measureMapped<source>(arguments, begin, end, measure)
                ? scaleNotBelow(symmetricEnd(codec.scaling, measure), codec.scale)
                : quietNan();
    storeScaleValue(arguments.scales, codec.scale, bucket, scale);
    return isFinite(scale) && scale != 0.0f;
  }

  uint32_t one(float x, uint16_t random) const {
    return exponentialLevel(x, scale, arguments.codec->bits, arguments.codec->rounding, random);
  }

  HWY_INLINE WordVector vector(FloatVector x, WordVector random) const {
    const Floats floats;
    const Words words;
    const uint32_t bits = arguments.codec->bits;
    const int32_t most = int32_t(symmetricSteps(bits));
    const bool stochastic = arguments.codec->rounding == CGX_ROUND_STOCHASTIC;
    const hn::RebindToSigned<Floats> integers;
    const auto offset = hn::Set(integers, most - 127);
    const FloatVector share = hn::Div(hn::Abs(x), hn::Set(floats, scale));
    const WordVector shareBits = hn::BitCast(words, share);
    const auto below = hn::Add(hn::BitCast(integers, hn::ShiftRight<23>(shareBits)), offset);
    const WordVector fraction =
        stochastic ? hn::Or(hn::ShiftLeft<7>(random), hn::Set(words, 0x40)) : hn::Set(words, 0x3fffff);
    const auto rounded =
        hn::Add(hn::BitCast(integers, hn::ShiftRight<23>(hn::Add(shareBits, fraction))), offset);
    const FloatVector inFirst = hn::Div(share, hn::Set(floats, floatFromBits(uint32_t(128 - most) << 23)));
    const auto first = hn::IfThenElseZero(hn::RebindMask(integers, roundUp(inFirst, stochastic, random)),
                                          hn::Set(integers, 1));
    const auto level =
        hn::IfThenElse(hn::Lt(below, hn::Set(integers, 1)), first, hn::Min(rounded, hn::Set(integers, most)));
    const auto isNegative =
        hn::And(hn::Gt(level, hn::Zero(integers)), hn::RebindMask(integers, hn::Lt(x, hn::Zero(floats))));
    return hn::BitCast(
        words, hn::Or(level, hn::IfThenElseZero(isNegative, hn::Set(integers, int32_t(1u << (bits - 1))))));
  }
};

/// The map from elements to the numbers of learned levels. Its constructor stores the scales and learns the
/// table.
template <Source source> struct LearnedMap {
  const QuantizeEncodeArguments &arguments;
  LookUpTable table;
  LookUpTable search; ///< the table with a top that nothing reaches
  BucketScale range = {};

  explicit LearnedMap(const QuantizeEncodeArguments &arguments) : arguments(arguments) {
    const cgx_codec &codec = *arguments.codec;
    forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
      BucketMeasure measure;
      storeScale(arguments.scales, codec, bucket,
                 measureMapped<source>(arguments, begin, end, measure)
                     ? makeBucketScale(measure.minimum, measure.maximum, /*bits=*/1, codec.scale)
                     : notFiniteScale());
    });
    learnTable(arguments, table.values);
    memcpy(arguments.table, table.values, tableBytes(codec));
    search = table;
    search.values[(1u << codec.bits) - 1] = floatFromBits(infinityBits);
    table.finish(codec.bits);
    search.finish(codec.bits);
  }

  bool startBucket(uint64_t bucket, uint64_t, uint64_t) {
    range = loadScale(arguments.scales, *arguments.codec, bucket);
    return isFiniteScale(range);
  }

  uint32_t one(float x, uint16_t random) const {
    return learnedLevel(table.values, 1u << arguments.codec->bits, shareOfRange(range, x),
                        arguments.codec->rounding, random);
  }

  HWY_INLINE WordVector vector(FloatVector x, WordVector random) const {
    const Floats floats;
    const Words words;
    const FloatVector zero = hn::Zero(floats), top = hn::Set(floats, 1.0f);
    FloatVector share = zero;
    if (range.unit != 0.0f)
      share = hn::Div(hn::Sub(x, hn::Set(floats, range.minimum)), hn::Set(floats, range.unit));
    share = hn::Max(hn::Min(share, top), zero);
    WordVector below = hn::Zero(words);
    for (uint32_t step = 1u << (arguments.codec->bits - 1); step > 0; step /= 2) {
      const WordVector candidate = hn::Add(below, hn::Set(words, step));
      below = hn::IfThenElse(hn::RebindMask(words, hn::Le(search(candidate), share)), candidate, below);
    }
    const WordVector above = hn::Add(below, hn::Set(words, 1));
    const FloatVector low = table(below), distance = hn::Sub(table(above), low);
    const FloatVector way =
        hn::IfThenElseZero(hn::Gt(distance, zero), hn::Div(hn::Sub(share, low), distance));
    const FloatMask up = roundUp(way, arguments.codec->rounding == CGX_ROUND_STOCHASTIC, random);
    return hn::IfThenElse(hn::RebindMask(words, up), above, below);
  }
};

/// Encodes through the buffer, with the level numbers that `map` gives.
template <Source source, class Map>
void encodeMapped(const QuantizeEncodeArguments &arguments, PackBuffer pack, Map map) {
  const cgx_codec &codec = *arguments.codec;
  HWY_ALIGN uint16_t buffer[chunkElements], randoms[chunkElements] = {};
  RandomCursor random(arguments.key);
  const int shift = int(16 - codec.bits);
  uint64_t bucket = 0, bucketEnd = 0;
  bool hasLevels = false;
  for (uint64_t chunk = 0; chunk < arguments.elements; chunk += chunkElements) {
    const uint64_t left = arguments.elements - chunk, count = left < chunkElements ? left : chunkElements;
    if (codec.rounding == CGX_ROUND_STOCHASTIC) {
      memset(randoms, 0, sizeof randoms);
      addRandom(random, arguments.firstElement + chunk, count, /*bits=*/0, randoms);
    }
    for (uint64_t i = 0; i < count;) {
      if (chunk + i == bucketEnd) {
        bucketEnd =
            arguments.elements - bucketEnd < codec.bucket ? arguments.elements : bucketEnd + codec.bucket;
        hasLevels = map.startBucket(bucket++, chunk + i, bucketEnd);
      }
      const uint64_t runEnd = bucketEnd - chunk < count ? bucketEnd - chunk : count;
      if (!hasLevels) {
        memset(buffer + i, 0, (runEnd - i) * sizeof *buffer);
        i = runEnd;
      }
      for (; i + lanes <= runEnd; i += lanes) {
        const FloatVector x = loadElements<source>(arguments.input, chunk + i);
        const WordVector level = hn::ShiftLeftSame(map.vector(x, widenHalves(randoms + i)), shift);
        hn::StoreU(hn::TruncateTo(NarrowHalves(), level), NarrowHalves(), buffer + i);
      }
      for (; i < runEnd; ++i)
        buffer[i] = uint16_t(map.one(loadElement(source, arguments.input, chunk + i), randoms[i]) << shift);
    }
    pack(buffer, count, arguments.levels + chunk / 8 * codec.bits);
  }
}

inline void encodeMappedLevels(const QuantizeEncodeArguments &arguments, PackBuffer pack) {
  withSource(arguments.source, [&]<Source source>(SourceTag<source>) {
    if (arguments.codec->levels == CGX_LEVELS_EXPONENTIAL)
      encodeMapped<source>(arguments, pack, ExponentialMap<source>{arguments});
    else
      encodeMapped<source>(arguments, pack, LearnedMap<source>(arguments));
  });
}

/// The map from level numbers to values of exponential levels.
struct ExponentialValues {
  const QuantizeDecodeArguments &arguments;
  float limit;
  float scale = 0.0f;

  void startBucket(uint64_t bucket) {
    scale = loadScaleValue(arguments.scales, arguments.codec->scale, bucket);
  }

  bool isFiniteBucket() const { return isFinite(scale); }

  float one(uint32_t level) const { return exponentialValue(level, scale, arguments.codec->bits, limit); }

  HWY_INLINE FloatVector vector(WordVector level) const {
    const Floats floats;
    const Words words;
    const uint32_t bits = arguments.codec->bits, sign = 1u << (bits - 1);
    const WordVector number = hn::And(level, hn::Set(words, sign - 1));
    const WordVector exponent = hn::Add(number, hn::Set(words, 127u - symmetricSteps(bits)));
    const FloatVector power = hn::BitCast(floats, hn::ShiftLeft<23>(exponent));
    const FloatVector magnitude = hn::Mul(hn::Set(floats, scale), power);
    const FloatVector top = hn::Set(floats, limit), bottom = hn::Set(floats, -limit);
    const WordMask isNegative = hn::Ne(hn::And(level, hn::Set(words, sign)), hn::Zero(words));
    const FloatVector value =
        hn::IfThenElse(hn::RebindMask(floats, isNegative), hn::Neg(magnitude), magnitude);
    const WordMask isZero = hn::Eq(number, hn::Zero(words));
    return hn::IfThenZeroElse(hn::RebindMask(floats, isZero), hn::Max(hn::Min(value, top), bottom));
  }
};

/// The map from level numbers to values of learned levels, which a table of the bucket holds.
struct LearnedValues {
  const QuantizeDecodeArguments &arguments;
  float limit;
  BucketScale range = {};
  float shares[maxTableLevels] = {};
  LookUpTable values;

  LearnedValues(const QuantizeDecodeArguments &arguments, float limit) : arguments(arguments), limit(limit) {
    memcpy(shares, arguments.table, tableBytes(*arguments.codec));
    values.finish(arguments.codec->bits);
  }

  void startBucket(uint64_t bucket) {
    range = loadScale(arguments.scales, *arguments.codec, bucket);
    for (uint32_t level = 0; level < 1u << arguments.codec->bits; ++level)
      values.values[level] = learnedValue(shares, level, range, limit);
  }

  bool isFiniteBucket() const { return true; } // the table holds the NaNs

  float one(uint32_t level) const { return values.values[level]; }

  HWY_INLINE FloatVector vector(WordVector level) const { return values(level); }
};

/// Decodes through the buffer, to the values that `map` gives.
template <Sink sink, class Map>
void decodeMapped(const QuantizeDecodeArguments &arguments, UnpackBuffer unpack, Map map,
                  OutputOf<sink> *output) {
  const cgx_codec &codec = *arguments.codec;
  constexpr Sink unaligned = sink == Sink::streamedF32 ? Sink::f32 : sink; // a run may start anywhere
  HWY_ALIGN uint16_t buffer[chunkElements];
  uint64_t bucket = 0, bucketEnd = 0;
  for (uint64_t chunk = 0; chunk < arguments.elements; chunk += chunkElements) {
    const uint64_t left = arguments.elements - chunk, count = left < chunkElements ? left : chunkElements;
    unpack(arguments.levels + chunk / 8 * codec.bits, count, buffer);
    for (uint64_t i = 0; i < count;) {
      if (chunk + i == bucketEnd) {
        bucketEnd =
            arguments.elements - bucketEnd < codec.bucket ? arguments.elements : bucketEnd + codec.bucket;
        map.startBucket(bucket++);
      }
      const uint64_t runEnd = bucketEnd - chunk < count ? bucketEnd - chunk : count;
      for (; map.isFiniteBucket() && i + lanes <= runEnd; i += lanes)
        emit<unaligned>(map.vector(widenHalves(buffer + i)), output + chunk + i);
      for (; i < runEnd; ++i)
        emitOne<sink>(map.one(buffer[i]), output + chunk + i);
    }
  }
}

template <Sink sink>
void decodeMappedLevels(const QuantizeDecodeArguments &arguments, UnpackBuffer unpack, float limit,
                        OutputOf<sink> *output) {
  if (arguments.codec->levels == CGX_LEVELS_EXPONENTIAL)
    decodeMapped<sink>(arguments, unpack, ExponentialValues{arguments, limit}, output);
  else
    decodeMapped<sink>(arguments, unpack, LearnedValues(arguments, limit), output);
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
