//===-- arithmetic.h - Min-max quantization of one bucket -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the payload bits of the `quantize` family are, for every implementation:
//
//   scale     minimum, unit      one pair a bucket, as stored
//   fixed     (x - minimum) / unit in fixed point with 16 - bits fraction bits,
//             rounded to nearest even: the level fills the top of 16 bits
//   level     (fixed + offset) >> (16 - bits), where offset is a half (nearest)
//             or 16 - bits random bits (stochastic)
//   value     minimum + level * unit, rounded once
//
// Levels are computed against the scale as it is stored, so that rounding the
// scale costs range but no bias. Fixed point leaves a bias of at most 2^-17 of the
// bucket's range. The minimum is rounded down and the unit up, so levels never
// leave [0, 2^bits - 1] and need no clamp.
#ifndef CGX_KERNELS_ARITHMETIC_H
#define CGX_KERNELS_ARITHMETIC_H

#include "cgx/codec.h"
#include "cgx/kernels/magnitude.h"

namespace cgx {

/// The stored scale of a bucket, widened to f32.
struct BucketScale {
  float minimum;
  float unit;
};

/// The scale of a bucket that holds a NaN or an infinity, or whose range the scale
/// type cannot hold: every element decodes to NaN.
CGX_DEVICE_INLINE BucketScale notFiniteScale() {
  return BucketScale{floatFromBits(0x7fc00000u), floatFromBits(0x7fc00000u)};
}

CGX_DEVICE_INLINE bool isFiniteScale(BucketScale scale) {
  return isFinite(scale.minimum) && isFinite(scale.unit);
}

/// Smallest unit above 0: keeps 1 / unit and level * unit out of the subnormals.
constexpr float smallestUnit = 0x1p-126f;

/// The scale to store for finite elements in [minimum, maximum]. `levels` is
/// 2^bits - 1.
CGX_DEVICE_INLINE BucketScale makeBucketScale(float minimum, float maximum, uint32_t bits,
                                              uint32_t scaleType) {
  const float steps = float((1u << bits) - 1u);
  BucketScale scale;
  scale.minimum = minimum + 0.0f; // of the two zeros, +0
  if (scaleType == CGX_SCALE_BF16)
    scale.minimum = floatFromBfloat16(bfloat16RoundDown(scale.minimum));
  float range = maximum - scale.minimum;
  if (range == 0.0f) {
    scale.unit = 0.0f;
    return isFiniteScale(scale) ? scale : notFiniteScale();
  }
  float unit = range / steps; // exact where levels lie on values
  if (!isFinite(range))       // a range above the largest f32: divide first
    unit = maximum / steps - scale.minimum / steps;
  if (!(unit >= smallestUnit))
    unit = smallestUnit;
  scale.unit = scaleType == CGX_SCALE_BF16 ? floatFromBfloat16(bfloat16RoundUp(unit)) : unit;
  return isFiniteScale(scale) ? scale : notFiniteScale();
}

/// Units in this range need no prescaling; see FixedPointMap.
constexpr float smallestPlainUnit = 0x1p-96f;
constexpr float largestPlainUnit = 0x1p100f;

/// How elements of a bucket become fixed point:
/// fixed = ((x - minimum) * prescale) * factor. `prescale` is 1 except where the range
/// would overflow or the factor would.
struct FixedPointMap {
  float prescale;
  float shift; ///< -minimum * prescale
  float factor;
};

CGX_DEVICE_INLINE FixedPointMap makeFixedPointMap(BucketScale scale, uint32_t bits) {
  if (!isFiniteScale(scale) || scale.unit == 0.0f)
    return FixedPointMap{1.0f, -scale.minimum, 0.0f};
  float prescale = 1.0f;
  if (scale.unit > largestPlainUnit)
    prescale = 0x1p-2f;
  else if (scale.unit < smallestPlainUnit)
    prescale = 0x1p30f;
  const float one = float(1u << (16u - bits));
  return FixedPointMap{prescale, -scale.minimum * prescale, one / (scale.unit * prescale)};
}

/// 2^23, whose last place is 1: adding it leaves the rounded integer in the low bits.
constexpr float fixedPointMagic = 8388608.0f;

/// The level of a finite element in the top `bits` bits of 16, a fraction below.
CGX_DEVICE_INLINE uint32_t fixedPoint(FixedPointMap map, float x) {
  float distance = fusedMultiplyAdd(x, map.prescale, map.shift);
  return floatBits(fusedMultiplyAdd(distance, map.factor, fixedPointMagic)) & 0xffffu;
}

/// What is added to the fixed-point level before it is cut: half a level, or as many
/// of the 16 random bits as there are fraction bits.
CGX_DEVICE_INLINE uint32_t roundingOffset(uint32_t rounding, uint32_t bits, uint16_t random) {
  return rounding == CGX_ROUND_STOCHASTIC ? uint32_t(random) >> bits : 1u << (15u - bits);
}

CGX_DEVICE_INLINE uint32_t cutFraction(uint32_t fixed, uint32_t offset, uint32_t bits) {
  return (fixed + offset) >> (16u - bits);
}

/// The value of a level. It does not overflow: rounding the unit up may carry the
/// top level past the largest value of the element type, where `limit` holds it.
CGX_DEVICE_INLINE float levelValue(BucketScale scale, uint32_t level, float limit) {
  if (!isFiniteScale(scale))
    return floatFromBits(0x7fc00000u);
  float value = fusedMultiplyAdd(float(level), scale.unit, scale.minimum);
  return value > limit ? limit : value < -limit ? -limit : value;
}

} // namespace cgx

#endif // CGX_KERNELS_ARITHMETIC_H
