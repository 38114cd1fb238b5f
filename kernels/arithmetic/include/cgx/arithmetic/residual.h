//===-- residual.h - Arithmetic and storage of residuals --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the arithmetic of error feedback, all of it in f32. The sum that is encoded is the element plus the
// loss of the step before. The new loss is that sum minus the value that its payload decodes to.
#ifndef CGX_ARITHMETIC_RESIDUAL_H
#define CGX_ARITHMETIC_RESIDUAL_H

#include "cgx/arithmetic/magnitude.h"

namespace cgx {

/// The storage format of the elements of a residual.
enum class ResidualStorage {
  F32,
  Bf16, ///< rounded to nearest even
  Int8, ///< blocks of 128 share a scale, the largest magnitude / 127, in f32
};

/// The number of elements of Int8 that share a scale, counted from the first element of a residual.
constexpr uint64_t residualBlock = 128;

/// Returns the loss if `sum` was encoded and `sent` decoded. If a gradient overflowed, the step is void, and
/// the result is before(), the loss of the step before.
template <typename Before>
CGX_DEVICE_INLINE float lossOf(float sum, float sent, float decay, const Before &before) {
  const float now = sum - sent;
  return isFinite(now) ? decay * now : before();
}

/// Returns the nearest bf16 that is finite. Values above the largest would round to infinity, so they are
/// clamped.
CGX_DEVICE_INLINE uint16_t keepAsBf16(float value) {
  constexpr float largest = 0x1.fep127f;
  return bfloat16FromFloat(value > largest ? largest : value < -largest ? -largest : value);
}

/// Returns the scale of a block of Int8 from the largest magnitude in it.
CGX_DEVICE_INLINE float residualScale(float largest) {
  const float scale = largest / 127.0f;
  if (isFinite(127.0f * scale))
    return scale;
  return floatFromBits(floatBits(scale) - 1u); // the scale was rounded up, and 127 times it overflows
}

/// Returns the level of a value. If the scale underflowed to zero, all levels are 0; a subnormal one may give
/// levels above 127, so they are clamped.
CGX_DEVICE_INLINE int8_t keepAsInt8(float value, float scale) {
  if (scale == 0.0f)
    return 0;
  constexpr float magic = 0x1.8p23f; // adding it rounds a value below 2^22 to nearest even
  const float level = (value / scale + magic) - magic;
  return int8_t(level > 127.0f ? 127.0f : level < -127.0f ? -127.0f : level);
}

CGX_DEVICE_INLINE float valueOfInt8(int8_t level, float scale) { return float(level) * scale; }

} // namespace cgx

#endif // CGX_ARITHMETIC_RESIDUAL_H
