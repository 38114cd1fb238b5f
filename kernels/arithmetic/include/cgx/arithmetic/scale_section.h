//===-- scale_section.h - Scales as they are stored -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_ARITHMETIC_SCALE_SECTION_H
#define CGX_ARITHMETIC_SCALE_SECTION_H

#include "cgx/arithmetic/quantize.h"

namespace cgx {

/// Stores one value of a scale. If the scale type is bf16, bf16 must hold the value exactly.
CGX_DEVICE_INLINE void storeScaleValue(uint8_t *scales, uint32_t scaleType, uint64_t index, float value) {
  if (scaleType == CGX_SCALE_F32)
    return storeTo(scales + index * 4, value);
  storeTo(scales + index * 2, uint16_t(floatBits(value) >> 16));
}

CGX_DEVICE_INLINE float loadScaleValue(const uint8_t *scales, uint32_t scaleType, uint64_t index) {
  if (scaleType == CGX_SCALE_F32)
    return loadFrom<float>(scales + index * 4);
  return floatFromBits(uint32_t(loadFrom<uint16_t>(scales + index * 2)) << 16);
}

/// Stores the scale of a bucket of uniform levels: minimum and unit, or only the unit if levels are
/// symmetrical.
CGX_DEVICE_INLINE void storeScale(uint8_t *scales, const cgx_codec &codec, uint64_t bucket,
                                  BucketScale scale) {
  if (codec.scaling != CGX_SCALING_MIN_MAX)
    return storeScaleValue(scales, codec.scale, bucket, scale.unit);
  storeScaleValue(scales, codec.scale, 2 * bucket, scale.minimum);
  storeScaleValue(scales, codec.scale, 2 * bucket + 1, scale.unit);
}

CGX_DEVICE_INLINE BucketScale loadScale(const uint8_t *scales, const cgx_codec &codec, uint64_t bucket) {
  if (codec.scaling != CGX_SCALING_MIN_MAX)
    return symmetricScale(loadScaleValue(scales, codec.scale, bucket), codec.bits);
  return BucketScale{loadScaleValue(scales, codec.scale, 2 * bucket),
                     loadScaleValue(scales, codec.scale, 2 * bucket + 1)};
}

} // namespace cgx

#endif // CGX_ARITHMETIC_SCALE_SECTION_H
