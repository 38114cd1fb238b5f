//===-- Quantize.cpp - The quantize codec in a plain loop -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BucketMeasure.h"
#include "Buckets.h"
#include "Families.h"
#include "QuantizeBody.h"
#include "cgx/arithmetic/learned_table.h"
#include "cgx/arithmetic/levels.h"
#include "cgx/arithmetic/packing.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx {
namespace {

/// Measures a bucket. Returns false if an element of [begin, end) is not finite.
bool measureBucket(const QuantizeEncodeArguments &arguments, uint64_t begin, uint64_t end,
                   BucketMeasure &measure) {
  float minimum = loadElement(arguments.source, arguments.input, begin);
  float maximum = minimum;
  for (uint64_t i = begin; i < end; ++i) {
    const float x = loadElement(arguments.source, arguments.input, i);
    if (!isFinite(x))
      return false;
    minimum = x < minimum ? x : minimum;
    maximum = x > maximum ? x : maximum;
  }
  measure = completeMeasure(*arguments.codec, arguments.source, arguments.input, begin, end, minimum, maximum,
                            arguments.key, arguments.firstElement);
  return true;
}

/// Calls levelOf(x, random) for each element of a bucket, and stores the levels.
template <typename LevelOf>
void storeLevels(const QuantizeEncodeArguments &arguments, uint64_t begin, uint64_t end, LevelOf levelOf) {
  const cgx_codec &codec = *arguments.codec;
  for (uint64_t i = begin; i < end; ++i) {
    const uint16_t random = codec.rounding == CGX_ROUND_STOCHASTIC
                                ? randomHalf(arguments.key, arguments.firstElement + i)
                                : uint16_t(0);
    const uint32_t level = levelOf(loadElement(arguments.source, arguments.input, i), random);
    storeLevel(arguments.levels, codec.bits, levelPlace(codec.bits, arguments.elements, i), level);
  }
}

void encodeUniform(const QuantizeEncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    BucketMeasure measure;
    const BucketScale scale =
        measureBucket(arguments, begin, end, measure) ? makeUniformScale(codec, measure) : notFiniteScale();
    storeScale(arguments.scales, codec, bucket, scale);
    if (!isFiniteScale(scale))
      return; // all levels stay 0
    const FixedPointMap map = makeFixedPointMap(scale, codec.bits);
    storeLevels(arguments, begin, end, [&](float x, uint16_t random) {
      return cutFraction(fixedPoint(map, x), roundingOffset(codec.rounding, codec.bits, random), codec.bits);
    });
  });
}

void encodeExponential(const QuantizeEncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    BucketMeasure measure;
    const float scale = measureBucket(arguments, begin, end, measure)
                            ? scaleNotBelow(symmetricEnd(codec.scaling, measure), codec.scale)
                            : quietNan();
    storeScaleValue(arguments.scales, codec.scale, bucket, scale);
    if (!isFinite(scale) || scale == 0.0f)
      return; // all levels stay 0
    storeLevels(arguments, begin, end, [&](float x, uint16_t random) {
      return exponentialLevel(x, scale, codec.bits, codec.rounding, random);
    });
  });
}

void encodeLearned(const QuantizeEncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  const uint32_t levels = 1u << codec.bits;
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    BucketMeasure measure;
    const BucketScale range = measureBucket(arguments, begin, end, measure)
                                  ? makeBucketScale(measure.minimum, measure.maximum, /*bits=*/1, codec.scale)
                                  : notFiniteScale();
    storeScale(arguments.scales, codec, bucket, range);
  });
  float table[maxTableLevels];
  learnTable(arguments, table);
  memcpy(arguments.table, table, levels * 4);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const BucketScale range = loadScale(arguments.scales, codec, bucket);
    if (!isFiniteScale(range))
      return; // all levels stay 0
    storeLevels(arguments, begin, end, [&](float x, uint16_t random) {
      return learnedLevel(table, levels, shareOfRange(range, x), codec.rounding, random);
    });
  });
}

uint64_t encode(const EncodeArguments &whole) {
  const QuantizeEncodeArguments arguments = cutBody(whole);
  const cgx_codec &codec = *arguments.codec;
  memset(arguments.levels, 0, levelBytes(codec, arguments.elements));
  if (codec.levels == CGX_LEVELS_EXPONENTIAL)
    encodeExponential(arguments);
  else if (codec.levels == CGX_LEVELS_LEARNED)
    encodeLearned(arguments);
  else
    encodeUniform(arguments);
  return cgx_quantize_body_bytes(&codec, arguments.elements);
}

/// Calls consume(index, valueOf(level)) for the elements of a bucket.
template <typename ValueOf, typename Consume>
void consumeBucket(const QuantizeDecodeArguments &arguments, uint64_t begin, uint64_t end, ValueOf valueOf,
                   const Consume &consume) {
  const uint32_t bits = arguments.codec->bits;
  for (uint64_t i = begin; i < end; ++i)
    consume(i, valueOf(loadLevel(arguments.levels, bits, levelPlace(bits, arguments.elements, i))));
}

template <typename Consume>
void forEachValue(const DecodeArguments &whole, float limit, const Consume &consume) {
  const QuantizeDecodeArguments arguments = cutBody(whole);
  const cgx_codec &codec = *arguments.codec;
  float table[maxTableLevels];
  memcpy(table, arguments.table, tableBytes(codec));
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    if (codec.levels == CGX_LEVELS_EXPONENTIAL) {
      const float scale = loadScaleValue(arguments.scales, codec.scale, bucket);
      return consumeBucket(
          arguments, begin, end,
          [&](uint32_t level) { return exponentialValue(level, scale, codec.bits, limit); }, consume);
    }
    const BucketScale scale = loadScale(arguments.scales, codec, bucket);
    if (codec.levels == CGX_LEVELS_LEARNED)
      return consumeBucket(
          arguments, begin, end, [&](uint32_t level) { return learnedValue(table, level, scale, limit); },
          consume);
    consumeBucket(
        arguments, begin, end, [&](uint32_t level) { return levelValue(scale, level, limit); }, consume);
  });
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  return storeValues(arguments, output, [](const auto &...all) { forEachValue(all...); });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  return addValues(arguments, accumulator, [](const auto &...all) { forEachValue(all...); });
}

} // namespace

const BodyKernels quantizeReference = {encode, decode, decodeAccumulate};

} // namespace cgx
