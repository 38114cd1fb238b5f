//===-- quantize.h - Min-max quantization of one bucket ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bits of a `quantize` payload are defined here for every implementation:
//
//   scale     minimum, unit      one pair a bucket, as stored
//   fixed     (x - minimum) / unit in fixed point with 16 - bits fraction bits,
//             rounded to nearest even: the level fills the top of 16 bits
//   level     (fixed + offset) >> (16 - bits), where offset is a half (nearest)
//             or 16 - bits random bits (stochastic)
//   value     minimum + level * unit, rounded once
//
// Other scalings and the random shift differ only in the scale; levels that are not evenly spaced are in
// levels.h.
//
// Levels are computed against the scale as it is stored, so rounding the scale costs range but adds no bias.
// Fixed point leaves a bias of at most 2^-17 of the bucket's range. The minimum is rounded down and the unit
// up, so levels never leave [0, 2^bits - 1] and need no clamp.
#ifndef CGX_ARITHMETIC_QUANTIZE_H
#define CGX_ARITHMETIC_QUANTIZE_H

#include "cgx/arithmetic/magnitude.h"
#include "cgx/codec.h"

namespace cgx {

/// The stored scale of a bucket, widened to f32.
struct BucketScale {
  float minimum;
  float unit;
};

/// Returns the scale of a bucket that holds a NaN or an infinity, or whose range the scale type cannot hold:
/// every element decodes to NaN.
CGX_DEVICE_INLINE BucketScale notFiniteScale() {
  return BucketScale{floatFromBits(0x7fc00000u), floatFromBits(0x7fc00000u)};
}

CGX_DEVICE_INLINE bool isFiniteScale(BucketScale scale) {
  return isFinite(scale.minimum) && isFinite(scale.unit);
}

/// The smallest unit above 0. It keeps 1 / unit and level * unit out of the subnormals.
constexpr float smallestUnit = 0x1p-126f;

/// Returns the scale to store for finite elements in [minimum, maximum], with 2^bits levels.
CGX_DEVICE_INLINE BucketScale makeBucketScale(float minimum, float maximum, uint32_t bits,
                                              uint32_t scaleType) {
  const float steps = float((1u << bits) - 1u);
  BucketScale scale;
  scale.minimum = minimum + 0.0f; // turns -0 into +0
  if (scaleType == CGX_SCALE_BF16)
    scale.minimum = floatFromBfloat16(bfloat16RoundDown(scale.minimum));
  float range = maximum - scale.minimum;
  if (range == 0.0f) {
    scale.unit = 0.0f;
    return isFiniteScale(scale) ? scale : notFiniteScale();
  }
  float unit = range / steps; // exact where levels lie on values
  if (!isFinite(range))       // a range above the largest f32: divide before subtracting
    unit = maximum / steps - scale.minimum / steps;
  if (!(unit >= smallestUnit))
    unit = smallestUnit;
  scale.unit = scaleType == CGX_SCALE_BF16 ? floatFromBfloat16(bfloat16RoundUp(unit)) : unit;
  return isFiniteScale(scale) ? scale : notFiniteScale();
}

/// The measures that a bucket's scale is computed from: its extremes, and its Euclidean norm and 16 random
/// bits for the scalings and roundings that need them.
struct BucketMeasure {
  float minimum;
  float maximum;
  float norm;
  uint16_t random;
};

/// Returns the scale of levels that are shifted down by a random part of the unit; one level more covers the
/// range. The unit has a lower bound, so that the rounding of the shifted minimum stays below an eighth of
/// it.
CGX_DEVICE_INLINE BucketScale makeShiftedScale(BucketMeasure measure, uint32_t bits) {
  BucketScale scale = makeBucketScale(measure.minimum, measure.maximum, bits, CGX_SCALE_F32);
  if (scale.unit == 0.0f || !isFiniteScale(scale))
    return scale;
  const float steps = float((1u << bits) - 2u); // one level is spent on the shift
  const float range = measure.maximum - scale.minimum;
  float unit = isFinite(range) ? range / steps : measure.maximum / steps - scale.minimum / steps;
  const float low = floatFromBits(magnitudeBits(measure.minimum)),
              high = floatFromBits(magnitudeBits(measure.maximum));
  const float coarsest = (low > high ? low : high) * 0x1p-21f;
  unit = unit > coarsest ? unit : coarsest;
  unit = unit > smallestUnit ? unit : smallestUnit;
  scale.unit = unit;
  scale.minimum = fusedMultiplyAdd(float(measure.random) * -0x1p-16f, unit, scale.minimum);
  return isFiniteScale(scale) ? scale : notFiniteScale();
}

/// Returns the number of levels on each side of 0.
CGX_DEVICE_INLINE uint32_t symmetricSteps(uint32_t bits) { return (1u << (bits - 1u)) - 1u; }

/// Returns the scale of symmetrical levels from the stored unit. Level `steps` is exactly 0.
CGX_DEVICE_INLINE BucketScale symmetricScale(float unit, uint32_t bits) {
  const BucketScale scale = {-(float(symmetricSteps(bits)) * unit) + 0.0f, unit};
  return isFiniteScale(scale) ? scale : notFiniteScale();
}

/// Returns the scale of levels from -end to end. The unit has at most 16 significant bits, so multiples of it
/// are exact.
CGX_DEVICE_INLINE BucketScale makeSymmetricScale(float end, uint32_t bits, uint32_t scaleType) {
  if (end == 0.0f)
    return BucketScale{0.0f, 0.0f};
  float unit = end / float(symmetricSteps(bits));
  unit = unit > smallestUnit ? unit : smallestUnit;
  if (!isFinite(unit))
    return notFiniteScale();
  const uint32_t below = scaleType == CGX_SCALE_BF16 ? 0xffffu : 0xffu;
  return symmetricScale(floatFromBits((floatBits(unit) + below) & ~below), bits);
}

/// Returns the largest of symmetrical levels.
CGX_DEVICE_INLINE float symmetricEnd(uint32_t scaling, BucketMeasure measure) {
  if (scaling == CGX_SCALING_L2)
    return measure.norm;
  const float end = measure.maximum > -measure.minimum ? measure.maximum : -measure.minimum;
  return end + 0.0f; // turns -0 into +0
}

/// Returns the scale of uniform levels, as stored.
CGX_DEVICE_INLINE BucketScale makeUniformScale(const cgx_codec &codec, BucketMeasure measure) {
  if (codec.scaling != CGX_SCALING_MIN_MAX)
    return makeSymmetricScale(symmetricEnd(codec.scaling, measure), codec.bits, codec.scale);
  if (codec.rounding == CGX_ROUND_RANDOM_SHIFT)
    return makeShiftedScale(measure, codec.bits);
  return makeBucketScale(measure.minimum, measure.maximum, codec.bits, codec.scale);
}

/// The range of units that need no prescaling; see FixedPointMap.
constexpr float smallestPlainUnit = 0x1p-96f;
constexpr float largestPlainUnit = 0x1p100f;

/// The map from elements of a bucket to fixed point: fixed = ((x - minimum) * prescale) * factor. `prescale`
/// is 1 unless the range or the factor would overflow.
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

/// 2^23, whose last place is 1. Adding it leaves the rounded integer in the low bits.
constexpr float fixedPointMagic = 8388608.0f;

/// Returns the level of a finite element in the top `bits` bits of 16, with a fraction below.
CGX_DEVICE_INLINE uint32_t fixedPoint(FixedPointMap map, float x) {
  float distance = fusedMultiplyAdd(x, map.prescale, map.shift);
  return floatBits(fusedMultiplyAdd(distance, map.factor, fixedPointMagic)) & 0xffffu;
}

/// Returns what is added to the fixed-point level before its fraction is cut off: half a level, or as many of
/// the 16 random bits as there are fraction bits.
CGX_DEVICE_INLINE uint32_t roundingOffset(uint32_t rounding, uint32_t bits, uint16_t random) {
  return rounding == CGX_ROUND_STOCHASTIC ? uint32_t(random) >> bits : 1u << (15u - bits);
}

CGX_DEVICE_INLINE uint32_t cutFraction(uint32_t fixed, uint32_t offset, uint32_t bits) {
  return (fixed + offset) >> (16u - bits);
}

/// Returns the value of a level. Rounding the unit up may carry the top level past the largest value of the
/// element type, so `limit` clamps it.
CGX_DEVICE_INLINE float levelValue(BucketScale scale, uint32_t level, float limit) {
  if (!isFiniteScale(scale))
    return floatFromBits(0x7fc00000u);
  float value = fusedMultiplyAdd(float(level), scale.unit, scale.minimum);
  return value > limit ? limit : value < -limit ? -limit : value;
}

} // namespace cgx

#endif // CGX_ARITHMETIC_QUANTIZE_H
