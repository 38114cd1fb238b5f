//===-- kernels/cpu/TopkCut.h - The cut of the largest elements -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_TOPKCUT_H
#define CGX_KERNELS_CPU_TOPKCUT_H

#include "Positions.h"
#include "SparseBody.h"

#include <array>

namespace cgx {

/// The cut between elements that are sent and others: elements of a larger magnitude are sent, and the first
/// `ties` elements of this magnitude.
struct Cut {
  uint32_t magnitude;
  uint64_t ties;
};

/// Counts the digits of magnitudes. Four counters take turns, so that equal neighbours do not wait for each
/// other.
class Histogram {
public:
  void add(uint64_t turn, uint32_t digit) { ++counts[turn & 3][digit]; }

  /// Returns the digit of the `wanted`-th largest; `wanted` becomes its place among those of that digit.
  uint32_t find(uint64_t &wanted) const {
    for (uint32_t digit = digits; digit-- > 0;) {
      uint64_t count = 0;
      for (const auto &counter : counts)
        count += counter[digit];
      if (count >= wanted)
        return digit;
      wanted -= count;
    }
    return 0;
  }

private:
  static constexpr uint32_t digits = 1 << 11;
  std::array<std::array<uint32_t, digits>, 4> counts = {};
};

/// Finds the cut by radix selection, without moving an element: by the top 11 bits of magnitudes, then the
/// next 11 among the elements with that prefix, then the last 9.
template <typename Magnitude> Cut findCut(uint64_t elements, uint64_t count, const Magnitude &magnitude) {
  uint64_t wanted = count;
  Histogram first;
  uint64_t i = 0;
  for (; i + 4 <= elements; i += 4)
    for (uint64_t turn = 0; turn < 4; ++turn)
      first.add(turn, magnitude(i + turn) >> 20);
  for (; i < elements; ++i)
    first.add(0, magnitude(i) >> 20);
  uint32_t prefix = first.find(wanted);
  Histogram second;
  forEachWanted(
      elements, [&](uint64_t i) { return magnitude(i) >> 20 == prefix; },
      [&](uint64_t i) { second.add(i, (magnitude(i) >> 9) & 0x7ff); });
  prefix = prefix << 11 | second.find(wanted);
  Histogram third;
  forEachWanted(
      elements, [&](uint64_t i) { return magnitude(i) >> 9 == prefix; },
      [&](uint64_t i) { third.add(i, magnitude(i) & 0x1ff); });
  return {prefix << 9 | third.find(wanted), wanted};
}

/// Calls take(i, value) for the elements that are sent, in order.
template <typename Value, typename Take>
void forEachOfLargest(uint64_t elements, Cut cut, const Value &value, const Take &take) {
  uint64_t ties = 0;
  forEachWanted(
      elements, [&](uint64_t i) { return magnitudeBits(value(i)) >= cut.magnitude; },
      [&](uint64_t i) {
        const float x = value(i);
        if (magnitudeBits(x) != cut.magnitude || ties++ < cut.ties)
          take(i, x);
      });
}

} // namespace cgx

#endif // CGX_KERNELS_CPU_TOPKCUT_H
