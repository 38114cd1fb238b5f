//===-- natural.h - Random rounding to powers of two ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `natural` rounds a magnitude to a power of two. It adds random bits below the exponent of |x|; the carry
// rounds the exponent up with the probability that makes the result unbiased. This holds for subnormal
// numbers as well, which become 0 or the smallest normal number.
#ifndef CGX_ARITHMETIC_NATURAL_H
#define CGX_ARITHMETIC_NATURAL_H

#include "cgx/arithmetic/magnitude.h"

namespace cgx {

/// The exponent byte of an element that is not finite.
constexpr uint32_t naturalNotFinite = 255;

/// The largest exponent byte of a number.
constexpr uint32_t naturalLargest = 254;

/// Returns 16 random bits in the upper bits of the mantissa, and half a unit below them.
CGX_DEVICE_INLINE uint32_t naturalFraction(uint16_t random) { return uint32_t(random) << 7 | 0x40u; }

CGX_DEVICE_INLINE uint32_t naturalExponent(float x, uint16_t random) {
  const uint32_t magnitude = magnitudeBits(x);
  if (magnitude >= infinityBits)
    return naturalNotFinite;
  const uint32_t exponent = (magnitude + naturalFraction(random)) >> 23;
  return exponent < naturalLargest ? exponent : naturalLargest;
}

/// Returns the value of an exponent byte and a sign.
CGX_DEVICE_INLINE float naturalValue(uint32_t exponent, bool isNegative, float limit) {
  if (exponent == naturalNotFinite)
    return quietNan();
  const uint32_t bits = exponent << 23, most = floatBits(limit);
  return floatFromBits((isNegative ? 0x80000000u : 0u) | (bits < most ? bits : most));
}

} // namespace cgx

#endif // CGX_ARITHMETIC_NATURAL_H
