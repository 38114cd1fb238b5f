//===-- minifloat.h - Floating-point formats of 4 and 8 bits ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the element formats of `cast`: e4m3 and e5m2 are OCP's 8-bit formats, e2m1 is that of its
// microscaling formats. Magnitudes are clamped to the largest of the format and then rounded to nearest even.
#ifndef CGX_ARITHMETIC_MINIFLOAT_H
#define CGX_ARITHMETIC_MINIFLOAT_H

#include "cgx/arithmetic/magnitude.h"

namespace cgx {

struct MiniFormat {
  uint32_t mantissaBits;
  uint32_t bias;
  uint32_t codeBits; ///< with the sign
  float largest;
  uint32_t largestCode;
  float smallestNormal;
  float subnormalMagic; ///< a power of two whose last place is that of the subnormal numbers
  float subnormalUnit;
  uint32_t largestExponent; ///< floor(log2(largest))
};

constexpr MiniFormat e4m3 = {3, 7, 8, 448.0f, 0x7e, 0x1p-6f, 0x1p14f, 0x1p-9f, 8};
constexpr MiniFormat e5m2 = {2, 15, 8, 57344.0f, 0x7b, 0x1p-14f, 0x1p7f, 0x1p-16f, 15};
constexpr MiniFormat e2m1 = {1, 1, 4, 6.0f, 0x7, 0x1p0f, 0x1p22f, 0x1p-1f, 2};

/// Returns the code of a number, with its sign in the highest of `codeBits`.
CGX_DEVICE_INLINE uint32_t miniCode(const MiniFormat &format, float y) {
  const uint32_t shift = 23 - format.mantissaBits;
  float magnitude = floatFromBits(magnitudeBits(y));
  magnitude = magnitude < format.largest ? magnitude : format.largest;
  const uint32_t bits = floatBits(magnitude);
  const uint32_t rounded = bits + ((1u << (shift - 1)) - 1u) + ((bits >> shift) & 1u);
  const uint32_t normal = (rounded >> shift) - ((127u - format.bias) << format.mantissaBits);
  const uint32_t subnormal = floatBits(magnitude + format.subnormalMagic) & 0xffu;
  const uint32_t code = magnitude < format.smallestNormal ? subnormal : normal;
  return code | (floatBits(y) >> 31) << (format.codeBits - 1);
}

/// Returns the number of a code; NaN for codes above that of the largest number.
CGX_DEVICE_INLINE float miniValue(const MiniFormat &format, uint32_t code) {
  const uint32_t sign = code >> (format.codeBits - 1),
                 magnitude = code & ((1u << (format.codeBits - 1)) - 1u);
  if (magnitude > format.largestCode)
    return quietNan();
  const float value =
      magnitude < (1u << format.mantissaBits)
          ? float(magnitude) * format.subnormalUnit
          : floatFromBits((magnitude << (23 - format.mantissaBits)) + ((127u - format.bias) << 23));
  return floatFromBits(floatBits(value) | sign << 31);
}

/// Returns the scale that a bucket is stored with. It brings the bucket's largest magnitude within the
/// format's.
CGX_DEVICE_INLINE float miniScale(const MiniFormat &format, uint32_t largestBits, uint32_t scaleType) {
  if (largestBits >= infinityBits)
    return quietNan();
  if (largestBits == 0)
    return 0.0f;
  const float unit = floatFromBits(largestBits) / format.largest;
  return scaleNotBelow(unit >= 0x1p-126f ? unit : 0x1p-126f, scaleType);
}

/// Returns the factor of elements before they are encoded.
CGX_DEVICE_INLINE float miniFactor(float scale) { return scale == 0.0f ? 0.0f : 1.0f / scale; }

/// Returns the biased exponent of a block's power-of-two scale (E8M0); 255 for a block that is not finite.
CGX_DEVICE_INLINE uint32_t mxExponent(const MiniFormat &format, uint32_t largestBits) {
  if (largestBits >= infinityBits)
    return 255;
  const uint32_t exponent = largestBits >> 23;
  return exponent > format.largestExponent ? exponent - format.largestExponent : 0;
}

/// Returns the scale of an exponent, 2^(exponent - 127); NaN for 255.
CGX_DEVICE_INLINE float mxScale(uint32_t exponent) {
  return exponent == 255 ? quietNan() : floatFromBits(exponent == 0 ? 0x00400000u : exponent << 23);
}

/// Returns 1 / mxScale(), for exponents that mxExponent() gives.
CGX_DEVICE_INLINE float mxFactor(uint32_t exponent) { return floatFromBits((254u - exponent) << 23); }

} // namespace cgx

#endif // CGX_ARITHMETIC_MINIFLOAT_H
