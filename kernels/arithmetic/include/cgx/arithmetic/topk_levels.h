//===-- topk_levels.h - The largest of a bucket, as signs and levels ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Magnitudes of what is sent of a bucket lie between the smallest and the largest of them: these are the ends
// of the levels, and the sign is a bit of its own. So no level is wasted on what is not sent.
#ifndef CGX_ARITHMETIC_TOPK_LEVELS_H
#define CGX_ARITHMETIC_TOPK_LEVELS_H

#include "cgx/arithmetic/quantize.h"

namespace cgx {

/// Where the parts of a bucket's bytes begin, behind the two values of its scale.
struct TopkBucketParts {
  uint64_t count; ///< of what is sent
  uint64_t positions, codes;
};

CGX_DEVICE_INLINE TopkBucketParts topkBucketParts(const cgx_codec &codec, uint64_t elements) {
  const uint64_t count = cgx_sparse_count(&codec, elements), positions = 2 * cgx_scale_bytes(&codec);
  return TopkBucketParts{count, positions, positions + cgx_position_bytes(elements, count)};
}

/// Signs take one bit.
CGX_DEVICE_INLINE uint32_t topkLevelBits(const cgx_codec &codec) { return codec.bits - 1; }

/// The scale, as it is stored, of finite magnitudes in [smallest, largest]: of signs alone, their mean, from
/// their sum in the order of elements.
CGX_DEVICE_INLINE BucketScale topkScale(const cgx_codec &codec, float smallest, float largest, double sum,
                                        uint64_t count) {
  if (topkLevelBits(codec) != 0)
    return makeBucketScale(smallest, largest, topkLevelBits(codec), codec.scale);
  const BucketScale mean = {nearestScale(float(sum / double(count)), codec.scale), 0.0f};
  return isFiniteScale(mean) ? mean : notFiniteScale();
}

/// How the elements of a bucket become codes. The scale is finite.
struct TopkLevelMap {
  FixedPointMap map;
  uint32_t levelBits;
};

CGX_DEVICE_INLINE TopkLevelMap makeTopkLevelMap(const cgx_codec &codec, BucketScale scale) {
  const uint32_t bits = topkLevelBits(codec);
  return TopkLevelMap{bits != 0 ? makeFixedPointMap(scale, bits) : FixedPointMap{}, bits};
}

/// The sign, and the level of the magnitude above it.
CGX_DEVICE_INLINE uint32_t topkCode(const TopkLevelMap &levels, float x) {
  const uint32_t bits = levels.levelBits, sign = uint32_t(x < 0.0f);
  if (bits == 0)
    return sign;
  const uint32_t fixed = fixedPoint(levels.map, floatFromBits(magnitudeBits(x)));
  return sign | cutFraction(fixed, roundingOffset(CGX_ROUND_NEAREST, bits, 0), bits) << 1;
}

CGX_DEVICE_INLINE float topkValue(BucketScale scale, uint32_t code, float limit) {
  const float magnitude = levelValue(scale, code >> 1, limit);
  return code & 1 ? -magnitude : magnitude;
}

} // namespace cgx

#endif // CGX_ARITHMETIC_TOPK_LEVELS_H
