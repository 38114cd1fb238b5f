//===-- ternary.h - Random rounding to -s, 0 and s --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `ternary` turns an element into s with its sign if 16 random bits are below the share |x| / s, in fixed
// point with 16 fraction bits, and else into 0.
#ifndef CGX_ARITHMETIC_TERNARY_H
#define CGX_ARITHMETIC_TERNARY_H

#include "cgx/arithmetic/device.h"

namespace cgx {

/// The map from a magnitude to its share of the scale: (|x| * prescale) * factor.
struct ShareMap {
  float prescale;
  float factor;
};

/// The scale below which magnitudes are prescaled, so that factors stay finite.
constexpr float smallestPlainScale = 0x1p-96f;

/// Returns the map for a scale that is finite and not negative.
CGX_DEVICE_INLINE ShareMap makeShareMap(float scale) {
  if (scale == 0.0f)
    return ShareMap{1.0f, 0.0f};
  const float prescale = scale < smallestPlainScale ? 0x1p64f : 1.0f;
  return ShareMap{prescale, 65536.0f / (scale * prescale)};
}

/// Returns the share of a magnitude that is at most the scale, from 0 to 65536, rounded to nearest even.
CGX_DEVICE_INLINE uint32_t shareOf(ShareMap map, float magnitude) {
  return floatBits(fusedMultiplyAdd(magnitude * map.prescale, map.factor, 8388608.0f)) & 0x1ffffu;
}

CGX_DEVICE_INLINE bool isKept(uint32_t share, uint16_t random) { return random < share; }

} // namespace cgx

#endif // CGX_ARITHMETIC_TERNARY_H
