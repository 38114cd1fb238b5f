//===-- residual.h - How what encoding lost is computed and kept --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of error feedback, all of it in f32: a sum is what was lost before plus the element, its
// payload says something else, and the loss is what the next sum begins with.
#ifndef CGX_ARITHMETIC_RESIDUAL_H
#define CGX_ARITHMETIC_RESIDUAL_H

#include "cgx/arithmetic/magnitude.h"

namespace cgx {

/// How the elements of a residual are kept.
enum class ResidualStorage {
  F32,
  Bf16, ///< rounded to nearest even
  Int8, ///< blocks of 128 share a scale, the largest magnitude / 127, in f32
};

/// Elements of Int8 that share a scale, from the first one of a residual on.
constexpr uint64_t residualBlock = 128;

/// What is lost of `sum` where `sent` was decoded. Where a gradient overflowed the step is void, and what was
/// lost before() is not made up for.
template <typename Before>
CGX_DEVICE_INLINE float lossOf(float sum, float sent, float decay, const Before &before) {
  const float now = sum - sent;
  return isFinite(now) ? decay * now : before();
}

/// The nearest bf16; what is above the largest would round to infinity.
CGX_DEVICE_INLINE uint16_t keepAsBf16(float value) {
  constexpr float largest = 0x1.fep127f;
  return bfloat16FromFloat(value > largest ? largest : value < -largest ? -largest : value);
}

/// The scale of a block of Int8 from the largest magnitude in it.
CGX_DEVICE_INLINE float residualScale(float largest) {
  const float scale = largest / 127.0f;
  if (isFinite(127.0f * scale))
    return scale;
  return floatFromBits(floatBits(scale) - 1u); // rounded up, next to the largest float
}

/// A scale that underflows to zero holds nothing; a subnormal one may give more than 127.
CGX_DEVICE_INLINE int8_t keepAsInt8(float value, float scale) {
  if (scale == 0.0f)
    return 0;
  constexpr float magic = 0x1.8p23f; // adding it rounds what is below 2^22 to nearest even
  const float level = (value / scale + magic) - magic;
  return int8_t(level > 127.0f ? 127.0f : level < -127.0f ? -127.0f : level);
}

CGX_DEVICE_INLINE float valueOfInt8(int8_t level, float scale) { return float(level) * scale; }

} // namespace cgx

#endif // CGX_ARITHMETIC_RESIDUAL_H
