//===-- cast_sections.h - The body of a cast payload ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_ARITHMETIC_CAST_SECTIONS_H
#define CGX_ARITHMETIC_CAST_SECTIONS_H

#include "cgx/arithmetic/minifloat.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx {

CGX_DEVICE_INLINE bool isMx(const cgx_codec &codec) {
  return codec.format == CGX_FORMAT_MXFP8 || codec.format == CGX_FORMAT_MXFP4;
}

CGX_DEVICE_INLINE bool isNvfp4(const cgx_codec &codec) { return codec.format == CGX_FORMAT_NVFP4; }

/// Returns the scale of an nvfp4 payload from the bits of its largest finite magnitude, which becomes the
/// largest product of an e2m1 and an e4m3 number. Its lower bound keeps the product with a block's scale,
/// unless it is 0, from being subnormal.
CGX_DEVICE_INLINE float nvfp4Scale(uint32_t largestBits) {
  const float scale = floatFromBits(largestBits) / (6.0f * 448.0f);
  return largestBits == 0 ? 0.0f : scale < 0x1p-117f ? 0x1p-117f : scale;
}

/// Returns the format of the elements, for formats that have a scale.
CGX_DEVICE_INLINE MiniFormat miniFormatOf(const cgx_codec &codec) {
  // These are constants of the function because a GPU cannot access constants of the namespace.
  constexpr MiniFormat wide = e5m2, narrow = e2m1, other = e4m3;
  return codec.format == CGX_FORMAT_FP8_E5M2 ? wide : codec.format >= CGX_FORMAT_MXFP4 ? narrow : other;
}

/// Returns the bytes before the codes.
CGX_DEVICE_INLINE uint64_t castCodesOffset(const cgx_codec &codec, uint64_t elements) {
  if (isNvfp4(codec))
    return CGX_NVFP4_SCALE_BYTES + cgx_bucket_count(&codec, elements);
  return cgx_bucket_count(&codec, elements) * (isMx(codec) ? 1 : cgx_scale_bytes(&codec));
}

CGX_DEVICE_INLINE float loadCastScale(const uint8_t *scales, const cgx_codec &codec, uint64_t bucket) {
  constexpr MiniFormat blockScale = e4m3;
  if (isNvfp4(codec))
    return miniValue(blockScale, scales[CGX_NVFP4_SCALE_BYTES + bucket]) *
           loadScaleValue(scales, CGX_SCALE_F32, 0);
  return isMx(codec) ? mxScale(scales[bucket]) : loadScaleValue(scales, codec.scale, bucket);
}

/// Stores the scale of a bucket, from the bits of its largest magnitude, and returns the factor of its
/// elements, which is not finite if they are not. For nvfp4 the payload's scale must be stored already.
CGX_DEVICE_INLINE float storeCastScale(uint8_t *scales, const cgx_codec &codec, uint64_t bucket,
                                       uint32_t largestBits) {
  const MiniFormat format = miniFormatOf(codec);
  constexpr MiniFormat blockScale = e4m3;
  if (isNvfp4(codec)) {
    const float largest = floatFromBits(largestBits), scale = loadScaleValue(scales, CGX_SCALE_F32, 0);
    scales[CGX_NVFP4_SCALE_BYTES + bucket] = largestBits >= infinityBits ? uint8_t(0x7f)
                                             : scale == 0.0f
                                                 ? uint8_t(0)
                                                 : uint8_t(miniCode(blockScale, largest / 6.0f / scale));
    return miniFactor(loadCastScale(scales, codec, bucket));
  }
  if (isMx(codec)) {
    const uint32_t exponent = mxExponent(format, largestBits);
    scales[bucket] = uint8_t(exponent);
    return exponent == 255 ? quietNan() : mxFactor(exponent);
  }
  const float scale = miniScale(format, largestBits, codec.scale);
  storeScaleValue(scales, codec.scale, bucket, scale);
  return miniFactor(scale);
}

/// The place of a code of four bits. Whole blocks of 32 keep elements j and 16 + j in one byte; the elements
/// left over keep neighbours in one byte.
struct NibblePlace {
  uint64_t byte;
  uint32_t shift;
};

CGX_DEVICE_INLINE NibblePlace nibblePlace(uint64_t index, uint64_t elements) {
  if (index < elements / 32 * 32)
    return {index / 32 * 16 + index % 16, uint32_t(index / 16 % 2) * 4};
  return {index / 2, uint32_t(index % 2) * 4};
}

/// Stores a code. Codes must be stored in order, because the low half of a byte is written before the high
/// one.
CGX_DEVICE_INLINE void storeCode(const MiniFormat &format, uint8_t *codes, uint64_t index, uint64_t elements,
                                 uint32_t code) {
  if (format.codeBits == 8) {
    codes[index] = uint8_t(code);
    return;
  }
  const NibblePlace place = nibblePlace(index, elements);
  codes[place.byte] = uint8_t((place.shift ? codes[place.byte] & 0xfu : 0u) | code << place.shift);
}

CGX_DEVICE_INLINE uint32_t loadCode(const MiniFormat &format, const uint8_t *codes, uint64_t index,
                                    uint64_t elements) {
  if (format.codeBits == 8)
    return codes[index];
  const NibblePlace place = nibblePlace(index, elements);
  return (codes[place.byte] >> place.shift) & 0xfu;
}

CGX_DEVICE_INLINE float castValue(const MiniFormat &format, float scale, uint32_t code, float limit) {
  if (!isFinite(scale))
    return quietNan();
  const float number = miniValue(format, code);
  if (!isFinite(number))
    return number;
  const float value = number * scale;
  return value > limit ? limit : value < -limit ? -limit : value;
}

} // namespace cgx

#endif // CGX_ARITHMETIC_CAST_SECTIONS_H
