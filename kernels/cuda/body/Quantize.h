//===-- Quantize.h - The quantize codec, any parameters ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BODY_QUANTIZE_H
#define CGX_KERNELS_CUDA_BODY_QUANTIZE_H

#include "Input.h"
#include "PackedLevels.h"
#include "cgx/arithmetic/levels.h"
#include "cgx/arithmetic/scale_section.h"

#include <cmath>

namespace cgx::cuda {

/// The Euclidean norm of finite elements, as euclideanNorm(): 16 lanes in f64.
template <typename Input, typename Lanes>
CGX_BODY float normOf(const Lanes &lanes, const EncodeItem &item, uint64_t begin, uint64_t end) {
  PerLane<Lanes, double> sums;
  lanes.forEach([&](uint32_t lane) {
    sums[lane] = 0.0;
    for (uint64_t i = begin + lane; lane < 16 && i < end; i += 16) {
      const double x = double(Input::load(item, i));
      sums[lane] += x * x;
    }
  });
  const double sum = lanes.first(combineLanes(lanes, sums, 16, [](double a, double b) { return a + b; }));
  return float(std::sqrt(sum));
}

/// False if an element of a bucket is not finite. All lanes have the measure.
template <typename Input, typename Lanes>
CGX_BODY bool measureBucket(const Lanes &lanes, const EncodeItem &item, RandomKey key, uint64_t begin,
                            uint64_t end, BucketMeasure &measure) {
  PerLane<Lanes, float> low, high;
  PerLane<Lanes, bool> spoiled;
  lanes.forEach([&](uint32_t lane) {
    low[lane] = high[lane] = Input::load(item, begin);
    spoiled[lane] = false;
    for (uint64_t i = begin + lane; i < end; i += laneCount) {
      const float x = Input::load(item, i);
      spoiled[lane] = spoiled[lane] || !isFinite(x);
      low[lane] = x < low[lane] ? x : low[lane];
      high[lane] = x > high[lane] ? x : high[lane];
    }
  });
  if (lanes.ballot(spoiled) != 0)
    return false;
  measure = {};
  measure.minimum =
      lanes.first(combineLanes(lanes, low, laneCount, [](float a, float b) { return b < a ? b : a; }));
  measure.maximum =
      lanes.first(combineLanes(lanes, high, laneCount, [](float a, float b) { return b > a ? b : a; }));
  if (item.codec.scaling == CGX_SCALING_L2)
    measure.norm = normOf<Input>(lanes, item, begin, end);
  if (item.codec.rounding == CGX_ROUND_RANDOM_SHIFT)
    measure.random = randomHalf(key, item.firstElement + begin);
  return true;
}

struct Quantize {
  static constexpr bool hasBuckets = true;

  template <typename Input, typename Lanes>
  CGX_BODY static void storeScaleOf(const Lanes &lanes, const EncodeItem &item, RandomKey key,
                                    uint64_t bucket) {
    const cgx_codec &codec = item.codec;
    const uint64_t begin = bucket * codec.bucket;
    BucketMeasure measure;
    const bool finite = measureBucket<Input>(lanes, item, key, begin, bucketEnd(item, begin), measure);
    uint8_t *scales = item.body + item.sections.scales;
    lanes.forEach([&](uint32_t lane) {
      if (lane != 0)
        return;
      if (codec.levels == CGX_LEVELS_EXPONENTIAL)
        storeScaleValue(scales, codec.scale, bucket,
                        finite ? scaleNotBelow(symmetricEnd(codec.scaling, measure), codec.scale)
                               : quietNan());
      else if (!finite)
        storeScale(scales, codec, bucket, notFiniteScale());
      else if (codec.levels == CGX_LEVELS_LEARNED)
        storeScale(scales, codec, bucket,
                   makeBucketScale(measure.minimum, measure.maximum, /*bits=*/1, codec.scale));
      else
        storeScale(scales, codec, bucket, makeUniformScale(codec, measure));
    });
  }

  CGX_DEVICE_INLINE static uint64_t codeCount(const EncodeItem &item) {
    return LevelWords(item.codec.bits, item.elements).count();
  }

  template <typename Input>
  CGX_BODY static void storeCodes(const EncodeItem &item, RandomKey key, uint64_t number) {
    LevelWords(item.codec.bits, item.elements)
        .store(item.body + item.sections.codes, number,
               [&](uint64_t i) { return levelOf(item, key, i, Input::load(item, i)); });
  }

  CGX_BODY static float value(const cgx_codec &codec, cgx_element_type, const uint8_t *body,
                              const Sections &sections, uint64_t elements, uint64_t index, float limit) {
    const uint32_t level =
        loadLevel(body + sections.codes, codec.bits, levelPlace(codec.bits, elements, index));
    const uint32_t bucket = uint32_t(index) / codec.bucket;
    if (codec.levels == CGX_LEVELS_EXPONENTIAL)
      return exponentialValue(level, loadScaleValue(body + sections.scales, codec.scale, bucket), codec.bits,
                              limit);
    const BucketScale scale = loadScale(body + sections.scales, codec, bucket);
    if (codec.levels == CGX_LEVELS_LEARNED)
      return learnedValue(reinterpret_cast<const float *>(body + sections.table), level, scale, limit);
    return levelValue(scale, level, limit);
  }

private:
  CGX_BODY static uint32_t levelOf(const EncodeItem &item, RandomKey key, uint64_t index, float x) {
    const cgx_codec &codec = item.codec;
    const uint32_t bucket = uint32_t(index) / codec.bucket;
    const uint8_t *scales = item.body + item.sections.scales;
    const uint16_t random =
        codec.rounding == CGX_ROUND_STOCHASTIC ? randomHalf(key, item.firstElement + index) : uint16_t(0);
    if (codec.levels == CGX_LEVELS_EXPONENTIAL) {
      const float scale = loadScaleValue(scales, codec.scale, bucket);
      return !isFinite(scale) || scale == 0.0f
                 ? 0
                 : exponentialLevel(x, scale, codec.bits, codec.rounding, random);
    }
    const BucketScale scale = loadScale(scales, codec, bucket);
    if (!isFiniteScale(scale))
      return 0;
    if (codec.levels == CGX_LEVELS_LEARNED)
      return learnedLevel(reinterpret_cast<const float *>(item.body + item.sections.table), 1u << codec.bits,
                          shareOfRange(scale, x), codec.rounding, random);
    return cutFraction(fixedPoint(makeFixedPointMap(scale, codec.bits), x),
                       roundingOffset(codec.rounding, codec.bits, random), codec.bits);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_QUANTIZE_H
