//===-- ScaleSection.h - Scales as they are stored --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_SCALESECTION_H
#define CGX_KERNELS_CPU_SCALESECTION_H

#include "cgx/kernels/arithmetic.h"

namespace cgx {

CGX_DEVICE_INLINE void storeScale(uint8_t *scales, uint32_t scaleType, uint64_t bucket, BucketScale scale) {
  if (scaleType == CGX_SCALE_F32) {
    memcpy(scales + bucket * 8, &scale.minimum, 4);
    memcpy(scales + bucket * 8 + 4, &scale.unit, 4);
    return;
  }
  uint32_t pair = (floatBits(scale.minimum) >> 16) | (floatBits(scale.unit) & 0xffff0000u);
  memcpy(scales + bucket * 4, &pair, 4);
}

CGX_DEVICE_INLINE BucketScale loadScale(const uint8_t *scales, uint32_t scaleType, uint64_t bucket) {
  BucketScale scale;
  if (scaleType == CGX_SCALE_F32) {
    memcpy(&scale.minimum, scales + bucket * 8, 4);
    memcpy(&scale.unit, scales + bucket * 8 + 4, 4);
    return scale;
  }
  uint32_t pair;
  memcpy(&pair, scales + bucket * 4, 4);
  scale.minimum = floatFromBits(pair << 16);
  scale.unit = floatFromBits(pair & 0xffff0000u);
  return scale;
}

/// One value of a scale. bf16 must hold it.
CGX_DEVICE_INLINE void storeScaleValue(uint8_t *scales, uint32_t scaleType, uint64_t index, float value) {
  const uint32_t bits = floatBits(value);
  if (scaleType == CGX_SCALE_F32) {
    memcpy(scales + index * 4, &bits, 4);
  } else {
    const uint16_t upper = uint16_t(bits >> 16);
    memcpy(scales + index * 2, &upper, 2);
  }
}

CGX_DEVICE_INLINE float loadScaleValue(const uint8_t *scales, uint32_t scaleType, uint64_t index) {
  if (scaleType == CGX_SCALE_F32) {
    float value;
    memcpy(&value, scales + index * 4, 4);
    return value;
  }
  uint16_t upper;
  memcpy(&upper, scales + index * 2, 2);
  return floatFromBits(uint32_t(upper) << 16);
}

} // namespace cgx

#endif // CGX_KERNELS_CPU_SCALESECTION_H
