//===-- kernels/cpu/GcompBody.h - Mantissas as their levels say -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes and reads the mantissas of blocks in the layout of gcomp_levels.h.
//
// Each instruction set has its own loops:
//
//   widen(type, elements, count, out): converts elements of 16 bits to f32.
//   Parts: the parts of a block: `symbols`, `notZero`, `counts`, and space for rounded elements.
//   level(metric, row, at, count, parts): finds the levels of elements [at, at + count) of a block.
//   levelNone(at, count, parts): sets their levels to 0.
//   split(type, shifts, elements, count, code, parts): splits elements. False if an exponent has no code.
//   round(type, shifts, elements, count, parts): only rounds elements, into `parts.rounded`.
//   write(shifts, parts, out): writes levels and mantissas, and no byte after their end, which it returns.
//   countLevels(levels, count): counts the elements of each level, from levels of two bits each.
//   open(levels, counts, shifts, begins, opened): puts mantissas in the order of elements. Levels have
//     two bits each, and the mantissas of each level start at `begins`. May read `readSlack` bytes after
//     them.
#ifndef CGX_KERNELS_CPU_GCOMPBODY_H
#define CGX_KERNELS_CPU_GCOMPBODY_H

#include "LosslessBody.h"
#include "cgx/arithmetic/gcomp_levels.h"

namespace cgx::lossless {

/// The number of elements for which the metric is computed at a time.
constexpr uint32_t rowElements = 1024;

/// The operands of the metric for a row of elements, as f32 of any alignment; null for a tensor that the
/// optimizer does not keep.
struct MetricRow {
  const uint8_t *gradient, *kept[CGX_KEPT_TENSORS];
  uintptr_t
      next[CGX_KEPT_TENSORS]; ///< the address of the same row of the next block, which may be past the end
  uint32_t nextBytes[CGX_KEPT_TENSORS]; ///< bytes of an element there; 0 if there is nothing to prefetch

  /// Prefetches what the next block needs in place of the 16 elements from `i` on.
  CGX_DEVICE_INLINE void askAhead(uint32_t i) const {
    for (uint32_t which = 0; which < CGX_KEPT_TENSORS; ++which)
      if (nextBytes[which] != 0)
        __builtin_prefetch(reinterpret_cast<const void *>(next[which] + uint64_t(i) * nextBytes[which]),
                           /*rw=*/0,
                           /*locality=*/2);
  }
};

/// The parts of a block: its symbols, and for its elements that are not zero, in order, the levels, and by
/// level the sign and mantissa in 24 bits. This suits loops without masks of elements.
struct LeveledParts {
  uint8_t given[blockElements]; ///< the levels of all elements, found by the metric
  uint8_t symbols[blockElements + partSlack];
  uint8_t levels[blockElements + partSlack];
  uint32_t mantissas[gcompLevels][blockElements + partSlack];
  LevelCounts counts;
  uint32_t notZero;
  uint8_t rounded[4 * blockElements]; ///< all elements, for a block that stays uncompressed
};

/// Writes the parts by these loops:
///
///   packLevels(levels, count, out): packs two bits each, and writes no byte after their end.
///   packMantissas(mantissas, count, shift, out): packs 24 - shift bits each, in the same way.
template <typename Loops>
uint8_t *writeLeveled(const LevelShifts &shifts, const LeveledParts &parts, uint8_t *out) {
  Loops::packLevels(parts.levels, parts.notZero, out);
  out += levelBytes(parts.notZero);
  for (uint32_t level = 0; level < gcompLevels; ++level) {
    Loops::packMantissas(parts.mantissas[level], parts.counts.of[level], shifts[level], out);
    out += parts.counts.bytes(shifts, level);
  }
  return out;
}

/// The mantissas of a block in the order of elements. `ofLevel` is workspace for those of each level.
struct LeveledMantissaWords {
  uint32_t mantissas[blockElements + partSlack];
  uint32_t ofLevel[gcompLevels][blockElements + partSlack];

  uint32_t at(cgx_element_type /*type*/, uint32_t i) const { return mantissas[i]; }
};

/// The mantissas of gcomp, with the interface that LosslessBody.h describes.
template <typename Loops> class LeveledMantissas {
public:
  using Parts = typename Loops::Parts;

  explicit LeveledMantissas(const EncodeArguments &arguments)
      : arguments(arguments), codec(*arguments.codec), type(arguments.type),
        shifts(makeLevelShifts(codec, type)) {
    if (arguments.optimizer)
      metric = makeGcompMetric(codec, type, *arguments.optimizer);
  }

  /// Agrees with gcompPruned().
  static constexpr bool isPruned(cgx_element_type type) { return type != CGX_F16; }

  bool split(uint64_t begin, uint32_t count, const uint8_t *elements, const ExponentCode &code,
             uint8_t * /*out*/, Parts &parts) const {
    for (uint32_t at = 0; at < count; at += rowElements)
      levelRow(begin, at, std::min(rowElements, count - at), elements, parts);
    return Loops::split(type, shifts, elements, count, code, parts);
  }

  const uint8_t *raw(const uint8_t *elements, uint32_t count, Parts &parts) const {
    Loops::round(type, shifts, elements, count, parts);
    return parts.rounded;
  }

  uint64_t measure(const Parts &parts) const {
    return levelBytes(parts.notZero) + parts.counts.allBytes(shifts);
  }

  uint8_t *write(Parts &parts, uint8_t *out) const { return Loops::write(shifts, parts, out); }

  static uint64_t measureWritten(const DecodeArguments &arguments, const Block &block, uint64_t most) {
    if (levelBytes(block.notZero) > most)
      return most + 1;
    return levelBytes(block.notZero) + Loops::countLevels(block.mantissas, block.notZero)
                                           .allBytes(makeLevelShifts(*arguments.codec, arguments.type));
  }

  static constexpr uint32_t mostBytes = blockElements / 4 + 3 * blockElements;

  using Opened = LeveledMantissaWords;

  static void open(const DecodeArguments &arguments, const Block &block, Opened &opened) {
    const LevelShifts shifts = makeLevelShifts(*arguments.codec, arguments.type);
    const LevelCounts counts = Loops::countLevels(block.mantissas, block.notZero);
    std::array<const uint8_t *, gcompLevels> begins;
    const uint8_t *at = block.mantissas + levelBytes(block.notZero);
    for (uint32_t level = 0; level < gcompLevels; ++level) {
      begins[level] = at;
      at += counts.bytes(shifts, level);
    }
    Loops::open(block.mantissas, counts, shifts, begins, opened);
  }

private:
  /// Finds the levels of elements [at, at + count) of the block that begins with element `begin`.
  void levelRow(uint64_t begin, uint32_t at, uint32_t count, const uint8_t *elements, Parts &parts) const {
    if (!arguments.optimizer)
      return Loops::levelNone(at, count, parts);
    float widened[1 + CGX_KEPT_TENSORS][rowElements];
    MetricRow row = {};
    row.gradient = widen(type, elements, at, count, widened[CGX_KEPT_TENSORS]);
    for (uint32_t kept = 0; kept < CGX_KEPT_TENSORS; ++kept) {
      if (!cgx_optimizer_keeps(codec.optimizer, kept))
        continue;
      const KeptTensor &tensor = arguments.optimizer->kept[kept];
      const uint64_t first = arguments.firstElement + begin + at;
      row.kept[kept] = widen(tensor.type, tensor.elements, first, count, widened[kept]);
      row.nextBytes[kept] = uint32_t(cgx_element_bytes(tensor.type));
      row.next[kept] =
          reinterpret_cast<uintptr_t>(tensor.elements) + (first + blockElements) * row.nextBytes[kept];
    }
    Loops::level(metric, row, at, count, parts);
  }

  /// Returns elements [begin, begin + count) of a tensor as f32. If they have another type, they are
  /// converted into `room`.
  static const uint8_t *widen(cgx_element_type of, const void *elements, uint64_t begin, uint32_t count,
                              float *room) {
    const uint8_t *from = static_cast<const uint8_t *>(elements) + begin * cgx_element_bytes(of);
    if (of == CGX_F32)
      return from;
    Loops::widen(of, from, count, room);
    return reinterpret_cast<const uint8_t *>(room);
  }

  const EncodeArguments &arguments;
  const cgx_codec &codec;
  cgx_element_type type;
  LevelShifts shifts;
  GcompMetric metric;
};

} // namespace cgx::lossless

#endif // CGX_KERNELS_CPU_GCOMPBODY_H
