//===-- gcomp_levels.h - Sizes of the mantissas of a block ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of gcomp stores mantissas differently from a block of lossless. First come the levels of all
// elements that are not zero, two bits each. Then, level by level, come the signs and mantissas of its
// elements, with as many bits each as the level keeps, filled up to whole bytes.
#ifndef CGX_ARITHMETIC_GCOMP_LEVELS_H
#define CGX_ARITHMETIC_GCOMP_LEVELS_H

#include "cgx/arithmetic/gcomp.h"

#include <array>

namespace cgx::lossless {

/// The number of the 24 bits of sign and mantissa that are not sent, by level.
using LevelShifts = std::array<uint32_t, gcompLevels>;

constexpr LevelShifts makeLevelShifts(const cgx_codec &codec, cgx_element_type type) {
  LevelShifts shifts = {};
  for (uint32_t level = 0; level < gcompLevels; ++level)
    shifts[level] = gcompShift(codec, type, level);
  return shifts;
}

/// The number of elements of each level, in a block or a part of it, and the sizes that follow from it.
struct LevelCounts {
  uint32_t of[gcompLevels] = {};

  constexpr uint32_t all() const { return of[0] + of[1] + of[2] + of[3]; }
  /// Returns the bytes of the mantissas of a level.
  constexpr uint64_t bytes(const LevelShifts &shifts, uint32_t level) const {
    return (uint64_t(of[level]) * (24 - shifts[level]) + 7) / 8;
  }
  constexpr uint64_t allBytes(const LevelShifts &shifts) const {
    uint64_t sum = 0;
    for (uint32_t level = 0; level < gcompLevels; ++level)
      sum += bytes(shifts, level);
    return sum;
  }
};

/// Returns the bytes of the levels of so many elements.
constexpr uint64_t levelBytes(uint32_t notZero) { return (notZero + 3) / 4; }

CGX_DEVICE_INLINE uint32_t levelAt(const uint8_t *levels, uint32_t i) {
  return (levels[i / 4] >> (i % 4 * 2)) & 3;
}

} // namespace cgx::lossless

#endif // CGX_ARITHMETIC_GCOMP_LEVELS_H
