//===-- Quantize.h - The quantize codec, any parameters ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_QUANTIZE_H
#define CGX_KERNELS_CUDA_AGENT_QUANTIZE_H

#include "Input.h"
#include "PackedLevels.h"
#include "cgx/arithmetic/levels.h"
#include "cgx/arithmetic/scale_section.h"

#include <cmath>

namespace cgx::cuda {

/// Returns the Euclidean norm of finite elements, computed like euclideanNorm() in 16 lanes of f64.
template <typename Input, typename Warp>
CGX_AGENT float normOf(const Warp &lanes, const EncodeDescriptor &desc, uint64_t begin, uint64_t end) {
  PerLane<Warp, double> sums;
  lanes.forEach([&](uint32_t lane) {
    sums[lane] = 0.0;
    for (uint64_t i = begin + lane; lane < 16 && i < end; i += 16) {
      const double x = double(Input::load(desc, i));
      sums[lane] += x * x;
    }
  });
  const double sum = lanes.first(combineLanes(lanes, sums, 16, [](double a, double b) { return a + b; }));
  return float(std::sqrt(sum));
}

/// Measures a bucket, in all lanes. Returns false if an element is not finite.
template <typename Input, typename Warp>
CGX_AGENT bool measureBucket(const Warp &lanes, const EncodeDescriptor &desc, RandomKey key, uint64_t begin,
                             uint64_t end, BucketMeasure &measure) {
  PerLane<Warp, float> low, high;
  PerLane<Warp, bool> spoiled;
  lanes.forEach([&](uint32_t lane) {
    low[lane] = high[lane] = Input::load(desc, begin);
    spoiled[lane] = false;
    for (uint64_t i = begin + lane; i < end; i += laneCount) {
      const float x = Input::load(desc, i);
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
  if (desc.codec.scaling == CGX_SCALING_L2)
    measure.norm = normOf<Input>(lanes, desc, begin, end);
  if (desc.codec.rounding == CGX_ROUND_RANDOM_SHIFT)
    measure.random = randomHalf(key, desc.firstElement + begin);
  return true;
}

struct Quantize {
  static constexpr bool hasBuckets = true;

  template <typename Input, typename Warp>
  CGX_AGENT static void storeScaleOf(const Warp &lanes, const EncodeDescriptor &desc, RandomKey key,
                                     uint64_t bucket) {
    const cgx_codec &codec = desc.codec;
    const uint64_t begin = bucket * codec.bucket;
    BucketMeasure measure;
    const bool finite = measureBucket<Input>(lanes, desc, key, begin, bucketEnd(desc, begin), measure);
    uint8_t *scales = desc.body + desc.sections.scales;
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

  CGX_DEVICE_INLINE static uint64_t codeCount(const EncodeDescriptor &desc) {
    return LevelWords(desc.codec.bits, desc.elements).count();
  }

  template <typename Input>
  CGX_AGENT static void storeCodes(const EncodeDescriptor &desc, RandomKey key, uint64_t number) {
    LevelWords(desc.codec.bits, desc.elements)
        .store(desc.body + desc.sections.codes, number,
               [&](uint64_t i) { return levelOf(desc, key, i, Input::load(desc, i)); });
  }

  CGX_AGENT static float value(const cgx_codec &codec, cgx_element_type, const uint8_t *body,
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
  CGX_AGENT static uint32_t levelOf(const EncodeDescriptor &desc, RandomKey key, uint64_t index, float x) {
    const cgx_codec &codec = desc.codec;
    const uint32_t bucket = uint32_t(index) / codec.bucket;
    const uint8_t *scales = desc.body + desc.sections.scales;
    const uint16_t random =
        codec.rounding == CGX_ROUND_STOCHASTIC ? randomHalf(key, desc.firstElement + index) : uint16_t(0);
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
      return learnedLevel(reinterpret_cast<const float *>(desc.body + desc.sections.table), 1u << codec.bits,
                          shareOfRange(scale, x), codec.rounding, random);
    return cutFraction(fixedPoint(makeFixedPointMap(scale, codec.bits), x),
                       roundingOffset(codec.rounding, codec.bits, random), codec.bits);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_QUANTIZE_H
