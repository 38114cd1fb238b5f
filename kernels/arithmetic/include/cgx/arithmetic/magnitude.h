//===-- magnitude.h - Magnitudes, and scales from them ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This arithmetic is common to families with one scale a bucket. Magnitudes are compared as the bits of their
// f32, in which infinities and NaNs are above all numbers.
#ifndef CGX_ARITHMETIC_MAGNITUDE_H
#define CGX_ARITHMETIC_MAGNITUDE_H

#include "cgx/arithmetic/float16.h"
#include "cgx/codec.h"

namespace cgx {

/// Returns the bits of |x|.
CGX_DEVICE_INLINE uint32_t magnitudeBits(float x) { return floatBits(x) & 0x7fffffffu; }

/// The smallest magnitude that is not finite.
constexpr uint32_t infinityBits = 0x7f800000u;

CGX_DEVICE_INLINE float quietNan() { return floatFromBits(0x7fc00000u); }

/// Returns the smallest value of the scale type that is not below `value`, which is not negative. Returns NaN
/// for NaN, and where the type has no number that large.
CGX_DEVICE_INLINE float scaleNotBelow(float value, uint32_t scaleType) {
  if (!isFinite(value))
    return quietNan();
  const float stored = scaleType == CGX_SCALE_BF16 ? floatFromBfloat16(bfloat16RoundUp(value)) : value;
  return isFinite(stored) ? stored : quietNan();
}

/// Returns the finite value of the scale type that is nearest to a finite value.
CGX_DEVICE_INLINE float nearestScale(float value, uint32_t scaleType) {
  if (scaleType == CGX_SCALE_F32)
    return value;
  const float stored = floatFromBfloat16(bfloat16FromFloat(value));
  return isFinite(stored) ? stored : floatFromBits((floatBits(value) & 0x80000000u) | 0x7f7f0000u);
}

/// Clamps a value to [-limit, limit]; returns NaN if it is not finite.
CGX_DEVICE_INLINE float holdWithin(float value, float limit) {
  if (!isFinite(value))
    return quietNan();
  return value > limit ? limit : value < -limit ? -limit : value;
}

/// Returns the largest finite value of an element type that codecs take.
CGX_DEVICE_INLINE float largestValue(uint32_t elementType) {
  switch (elementType) {
  case CGX_F16:
    return 65504.0f;
  case CGX_BF16:
    return floatFromBits(0x7f7f0000u);
  default:
    return floatFromBits(0x7f7fffffu);
  }
}

} // namespace cgx

#endif // CGX_ARITHMETIC_MAGNITUDE_H
