//===-- Gcomp.h - Places of elements in their levels ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_GCOMP_H
#define CGX_KERNELS_CUDA_AGENT_GCOMP_H

#include "Lossless.h"

namespace cgx::cuda {

using lossless::LevelCounts;
using lossless::LevelShifts;

/// The level of an element that is zero, which has none.
constexpr uint32_t noLevel = gcompLevels;

/// Counts the levels of a stream, row by row. `before` holds the counts so far.
template <typename Warp> struct LevelPlaces {
  LevelCounts before;

  /// Gives each lane the place of its element among those of its level, and counts the row.
  CGX_AGENT PerLane<Warp, uint32_t> next(const Warp &lanes, const PerLane<Warp, uint32_t> &levels) {
    PerLane<Warp, uint32_t> places;
    PerLane<Warp, bool> isOf;
    lanes.forEach([&](uint32_t lane) { places[lane] = 0; });
    unrolled<gcompLevels>([&](uint32_t level) {
      lanes.forEach([&](uint32_t lane) { isOf[lane] = levels[lane] == level; });
      const uint32_t row = lanes.ballot(isOf);
      lanes.forEach([&](uint32_t lane) {
        if (isOf[lane])
          places[lane] = before.of[level] + countBits(row & ((1u << lane) - 1u));
      });
      before.of[level] += countBits(row);
    });
    return places;
  }
};

/// The place where the mantissas of a level begin, relative to the levels of a block, and the number of their
/// bits that are not sent.
struct LevelSection {
  uint32_t begin, shift;
};

/// The sections of all levels.
class LevelSections {
public:
  CGX_AGENT LevelSections(const LevelShifts &shifts, const LevelCounts &counts) {
    auto begin = uint32_t(lossless::levelBytes(counts.all()));
    unrolled<gcompLevels>([&](uint32_t level) {
      sections[level] = {begin, shifts[level]};
      begin += uint32_t(counts.bytes(shifts, level));
    });
  }

  /// Returns the section of a level. It is selected rather than indexed, so that sections stay in registers.
  CGX_AGENT LevelSection of(uint32_t level) const {
    LevelSection chosen = sections[0];
    unrolled<gcompLevels>([&](uint32_t i) { chosen = i == level ? sections[i] : chosen; });
    return chosen;
  }

private:
  LevelSection sections[gcompLevels];
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_GCOMP_H
