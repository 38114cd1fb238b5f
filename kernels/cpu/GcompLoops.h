//===-- kernels/cpu/GcompLoops.h - Mantissas, one after the other ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_GCOMPLOOPS_H
#define CGX_KERNELS_CPU_GCOMPLOOPS_H

#include "GcompBody.h"

namespace cgx::lossless {

/// Writes a sequence of bits, lowest first. It writes no byte after its end, because the next sequence begins
/// there.
class MantissaWriter {
public:
  explicit MantissaWriter(uint8_t *out) : out(out) {}

  void put(uint32_t value, uint32_t bits) {
    waiting |= uint64_t(value) << waitingBits;
    waitingBits += bits;
    if (waitingBits < 32)
      return;
    const auto word = uint32_t(waiting);
    memcpy(out, &word, sizeof word);
    out += sizeof word;
    waiting >>= 32;
    waitingBits -= 32;
  }

  void finish() { memcpy(out, &waiting, (waitingBits + 7) / 8); }

private:
  uint8_t *out;
  uint64_t waiting = 0;
  uint32_t waitingBits = 0; ///< fewer than 32 between calls
};

/// Returns mantissa `i` of those of one level that begin at `begin`, in its place among 24 bits. It may read
/// up to four bytes after them.
CGX_DEVICE_INLINE uint32_t mantissaAt(const uint8_t *begin, uint32_t i, uint32_t shift) {
  const uint32_t bits = 24 - shift;
  const uint64_t bit = uint64_t(i) * bits;
  uint32_t next;
  memcpy(&next, begin + bit / 8, sizeof next);
  return ((next >> bit % 8) & ((1u << bits) - 1)) << shift;
}

/// The bits of an element after pruning and rounding, and its level.
struct RoundedBits {
  uint32_t bits, level;
};
CGX_DEVICE_INLINE RoundedBits roundedAt(cgx_element_type type, const LevelShifts &shifts,
                                        const uint8_t *levels, const uint8_t *elements, uint32_t i) {
  const uint32_t bits = gcompPruned(type, bitsAt(type, elements, i));
  const uint32_t level = gcompIsShort(type, bits) ? 0 : levels[i];
  return {gcompRounded(bits, shifts[level]), level};
}
inline void storeRounded(cgx_element_type type, const LevelShifts &shifts, const uint8_t *levels,
                         const uint8_t *elements, uint32_t i, uint8_t *rounded) {
  const uint32_t bits = roundedAt(type, shifts, levels, elements, i).bits;
  if (type == CGX_F32)
    storeTo(rounded + 4 * i, bits);
  else
    storeTo(rounded + 2 * i, uint16_t(bits >> 16));
}

CGX_DEVICE_INLINE uint8_t levelOf(const GcompMetric &metric, const MetricRow &row, uint32_t i) {
  const auto kept = [&](uint32_t which) {
    return row.kept[which] ? double(loadF32(row.kept[which], i)) : 0.0;
  };
  return uint8_t(gcompLevel(metric, double(loadF32(row.gradient, i)), kept(CGX_KEPT_PARAMETER),
                            kept(CGX_KEPT_FIRST_MOMENT), kept(CGX_KEPT_SECOND_MOMENT)));
}

/// Loops that take one element after the other.
struct ReferenceGcompLoops {
  using Parts = LeveledParts;

  static void widen(cgx_element_type type, const uint8_t *elements, uint32_t count, float *out) {
    for (uint32_t i = 0; i < count; ++i)
      out[i] = loadElement(sourceOf(type), elements, i);
  }

  static void level(const GcompMetric &metric, const MetricRow &row, uint32_t at, uint32_t count,
                    Parts &parts) {
    for (uint32_t i = 0; i < count; ++i)
      parts.given[at + i] = levelOf(metric, row, i);
  }

  static void levelNone(uint32_t at, uint32_t count, Parts &parts) { memset(parts.given + at, 0, count); }

  static bool split(cgx_element_type type, const LevelShifts &shifts, const uint8_t *elements, uint32_t count,
                    const ExponentCode &code, LeveledParts &parts) {
    parts.notZero = 0;
    parts.counts = {};
    for (uint32_t i = 0; i < count; ++i) {
      const auto [bits, level] = roundedAt(type, shifts, parts.given, elements, i);
      const uint32_t symbol = symbolOf(bits, code.first);
      if (symbol >= code.symbols)
        return false;
      parts.symbols[i] = uint8_t(symbol);
      if (symbol < zeroSymbols)
        continue;
      parts.levels[parts.notZero++] = uint8_t(level);
      parts.mantissas[level][parts.counts.of[level]++] = restOf(bits) << 16 | (bits & 0xffff);
    }
    return true;
  }

  static void round(cgx_element_type type, const LevelShifts &shifts, const uint8_t *elements, uint32_t count,
                    Parts &parts) {
    for (uint32_t i = 0; i < count; ++i)
      storeRounded(type, shifts, parts.given, elements, i, parts.rounded);
  }

  static uint8_t *write(const LevelShifts &shifts, const Parts &parts, uint8_t *out) {
    return writeLeveled<ReferenceGcompLoops>(shifts, parts, out);
  }

  static void packLevels(const uint8_t *levels, uint32_t count, uint8_t *out) {
    memset(out, 0, levelBytes(count));
    for (uint32_t i = 0; i < count; ++i)
      out[i / 4] |= uint8_t(levels[i] << (i % 4 * 2));
  }

  static void packMantissas(const uint32_t *mantissas, uint32_t count, uint32_t shift, uint8_t *out) {
    MantissaWriter writer(out);
    for (uint32_t i = 0; i < count; ++i)
      writer.put(mantissas[i] >> shift, 24 - shift);
    writer.finish();
  }

  static LevelCounts countLevels(const uint8_t *levels, uint32_t count) {
    LevelCounts counts;
    for (uint32_t i = 0; i < count; ++i)
      ++counts.of[levelAt(levels, i)];
    return counts;
  }

  static void open(const uint8_t *levels, const LevelCounts &counts, const LevelShifts &shifts,
                   const std::array<const uint8_t *, gcompLevels> &begins, LeveledMantissaWords &opened) {
    LevelCounts before;
    for (uint32_t i = 0; i < counts.all(); ++i) {
      const uint32_t level = levelAt(levels, i);
      opened.mantissas[i] = mantissaAt(begins[level], before.of[level]++, shifts[level]);
    }
  }
};

} // namespace cgx::lossless

#endif // CGX_KERNELS_CPU_GCOMPLOOPS_H
