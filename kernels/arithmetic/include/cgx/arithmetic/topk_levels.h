//===-- topk_levels.h - The largest of a bucket as levels -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The levels of a bucket of topk span the smallest to the largest magnitude that is sent, and the sign is a
// bit of its own. So no level is wasted on elements that are not sent.
#ifndef CGX_ARITHMETIC_TOPK_LEVELS_H
#define CGX_ARITHMETIC_TOPK_LEVELS_H

#include "cgx/arithmetic/quantize.h"

namespace cgx {

/// The places of the parts of a bucket, after the two values of its scale.
struct TopkBucketParts {
  uint64_t count; ///< the number of elements that are sent
  uint64_t positions, codes;
};

CGX_DEVICE_INLINE TopkBucketParts topkBucketParts(const cgx_codec &codec, uint64_t elements) {
  const uint64_t count = cgx_sparse_count(&codec, elements), positions = 2 * cgx_scale_bytes(&codec);
  return TopkBucketParts{count, positions, positions + cgx_position_bytes(elements, count)};
}

/// Returns the bits of a level without its sign.
CGX_DEVICE_INLINE uint32_t topkLevelBits(const cgx_codec &codec) { return codec.bits - 1; }

/// Returns the scale, as it is stored, of finite magnitudes in [smallest, largest]. If only signs are sent,
/// it is their mean; `sum` adds them in the order of elements.
CGX_DEVICE_INLINE BucketScale topkScale(const cgx_codec &codec, float smallest, float largest, double sum,
                                        uint64_t count) {
  if (topkLevelBits(codec) != 0)
    return makeBucketScale(smallest, largest, topkLevelBits(codec), codec.scale);
  const BucketScale mean = {nearestScale(float(sum / double(count)), codec.scale), 0.0f};
  return isFiniteScale(mean) ? mean : notFiniteScale();
}

/// The map from elements of a bucket, whose scale is finite, to codes.
struct TopkLevelMap {
  FixedPointMap map;
  uint32_t levelBits;
};

CGX_DEVICE_INLINE TopkLevelMap makeTopkLevelMap(const cgx_codec &codec, BucketScale scale) {
  const uint32_t bits = topkLevelBits(codec);
  return TopkLevelMap{bits != 0 ? makeFixedPointMap(scale, bits) : FixedPointMap{}, bits};
}

/// Returns the code of an element: its sign in bit 0, and the level of its magnitude above.
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
