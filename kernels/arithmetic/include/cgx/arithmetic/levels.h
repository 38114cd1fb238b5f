//===-- levels.h - Levels that are not evenly spaced ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exponential levels are 0 and scale * 2^(j - M) for j = 1 ... M with M = 2^(bits - 1) - 1, of both signs. A
// level's number is j, plus 2^(bits - 1) if it is negative.
//
// Learned levels are a table of 2^bits shares of a bucket's range, ascending from 0 to 1.
#ifndef CGX_ARITHMETIC_LEVELS_H
#define CGX_ARITHMETIC_LEVELS_H

#include "cgx/arithmetic/natural.h"
#include "cgx/arithmetic/quantize.h"
#include "cgx/arithmetic/ternary.h"

namespace cgx {

/// Returns whether an element that lies at `share`, in [0, 1], between two levels is rounded up.
CGX_DEVICE_INLINE bool roundsUp(float share, uint32_t rounding, uint16_t random) {
  if (rounding == CGX_ROUND_NEAREST)
    return share > 0.5f;
  return isKept(shareOf(ShareMap{1.0f, 65536.0f}, share), random);
}

/// Returns the exponential level of a finite element whose magnitude is at most the scale, which is above 0.
CGX_DEVICE_INLINE uint32_t exponentialLevel(float x, float scale, uint32_t bits, uint32_t rounding,
                                            uint16_t random) {
  const int32_t most = int32_t(symmetricSteps(bits));
  const float share = floatFromBits(magnitudeBits(x)) / scale;
  int32_t level = int32_t(floatBits(share) >> 23) - 127 + most;
  if (level < 1) { // between 0 and the first level
    const float firstLevel = floatFromBits(uint32_t(128 - most) << 23);
    level = roundsUp(share / firstLevel, rounding, random) ? 1 : 0;
  } else {
    const uint32_t fraction = rounding == CGX_ROUND_NEAREST ? 0x3fffffu : naturalFraction(random);
    level = int32_t((floatBits(share) + fraction) >> 23) - 127 + most;
    level = level < most ? level : most;
  }
  return uint32_t(level) | (level > 0 && x < 0.0f ? 1u << (bits - 1) : 0u);
}

CGX_DEVICE_INLINE float exponentialValue(uint32_t level, float scale, uint32_t bits, float limit) {
  if (!isFinite(scale))
    return quietNan();
  const uint32_t number = level & ((1u << (bits - 1)) - 1u);
  if (number == 0)
    return 0.0f;
  const float magnitude = scale * floatFromBits((127u + number - symmetricSteps(bits)) << 23);
  return holdWithin(level >> (bits - 1) ? -magnitude : magnitude, limit);
}

/// The share of the distance by which a level moves towards each element nearest to it.
constexpr float learningRate = 0.05f;

/// Returns the number of the last level that is not above the share, and never the top level.
CGX_DEVICE_INLINE uint32_t learnedLevelBelow(const float *table, uint32_t levels, float share) {
  uint32_t low = 0, high = levels - 1;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (table[middle] <= share)
      low = middle;
    else
      high = middle;
  }
  return low;
}

CGX_DEVICE_INLINE uint32_t learnedLevel(const float *table, uint32_t levels, float share, uint32_t rounding,
                                        uint16_t random) {
  const uint32_t below = learnedLevelBelow(table, levels, share);
  const float distance = table[below + 1] - table[below];
  const float way = distance > 0.0f ? (share - table[below]) / distance : 0.0f;
  return below + (roundsUp(way, rounding, random) ? 1u : 0u);
}

/// Moves the level nearest to a share towards it (QSDP, Algorithm 5.1). The first and the last level stay, so
/// that levels span the bucket.
CGX_DEVICE_INLINE void learnFrom(float *table, uint32_t levels, float share) {
  const uint32_t nearest = learnedLevel(table, levels, share, CGX_ROUND_NEAREST, 0);
  if (nearest != 0 && nearest != levels - 1)
    table[nearest] = fusedMultiplyAdd(share - table[nearest], learningRate, table[nearest]);
}

/// Returns where an element lies in a bucket's range, as a share of it. A range that is finite holds every
/// distance.
CGX_DEVICE_INLINE float shareOfRange(BucketScale scale, float x) {
  if (scale.unit == 0.0f)
    return 0.0f;
  const float share = (x - scale.minimum) / scale.unit;
  return share < 0.0f ? 0.0f : share > 1.0f ? 1.0f : share;
}

CGX_DEVICE_INLINE float learnedValue(const float *table, uint32_t level, BucketScale scale, float limit) {
  if (!isFiniteScale(scale))
    return quietNan();
  return holdWithin(fusedMultiplyAdd(table[level], scale.unit, scale.minimum), limit);
}

} // namespace cgx

#endif // CGX_ARITHMETIC_LEVELS_H
