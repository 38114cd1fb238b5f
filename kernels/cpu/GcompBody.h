//===-- kernels/cpu/GcompBody.h - Mantissas as long as their levels ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes and reads the mantissas of blocks, which lie there as GcompLevels.h says.
//
// Each instruction set has its own loops:
//
//   widen(type, elements, count, out): elements of 16 bits as f32.
//   level(metric, row, count, levels): the levels of a row of elements, a byte each.
//   split(type, shifts, elements, count, code, parts): rounds elements to the levels in `parts.given`,
//     and cuts them. False if an exponent has no code.
//   round(type, shifts, levels, elements, count, rounded): rounds them only.
//   packLevels(levels, count, out): two bits each, without a byte behind their end.
//   packMantissas(mantissas, count, shift, out): 24 - shift bits each, in the same way.
//   countLevels(levels, count): how often each is among two bits each.
//   open(levels, counts, shifts, begins, opened): from levels of two bits each, and from mantissas that begin
//     level by level at `begins`, to mantissas in the order of elements. It may read `readSlack` bytes
//     behind.
#ifndef CGX_KERNELS_CPU_GCOMPBODY_H
#define CGX_KERNELS_CPU_GCOMPBODY_H

#include "LosslessBody.h"
#include "cgx/arithmetic/gcomp_levels.h"

namespace cgx::lossless {

/// Elements that the metric is computed of at a time.
constexpr uint32_t rowElements = 1024;

/// What the metric of a row is made of, as f32 of any alignment; null is what the optimizer does not keep.
struct MetricRow {
  const uint8_t *gradient, *kept[CGX_KEPT_TENSORS];
};

/// Symbols of a block; of those of its elements that are not zero, in order, the levels, and by level sign
/// and mantissa in 24 bits.
struct LeveledParts {
  uint8_t given[blockElements]; ///< the levels of all elements, by the metric
  uint8_t symbols[blockElements + partSlack];
  uint8_t levels[blockElements + partSlack];
  uint32_t mantissas[gcompLevels][blockElements + partSlack];
  LevelCounts counts;
  uint32_t notZero;
  uint8_t rounded[4 * blockElements]; ///< all elements, where a block is raw
};

/// Mantissas of a block in the order of elements, those by level being room on the way.
struct LeveledMantissaWords {
  uint32_t mantissas[blockElements + partSlack];
  uint32_t ofLevel[gcompLevels][blockElements + partSlack];

  uint32_t at(cgx_element_type /*type*/, uint32_t i) const { return mantissas[i]; }
};

/// As `LosslessBody.h` describes it.
template <typename Loops> class LeveledMantissas {
public:
  using Parts = LeveledParts;

  explicit LeveledMantissas(const EncodeArguments &arguments)
      : arguments(arguments), codec(*arguments.codec), type(arguments.type),
        shifts(makeLevelShifts(codec, type)) {
    if (arguments.optimizer)
      metric = makeGcompMetric(codec, type, *arguments.optimizer);
  }

  /// As gcompPruned().
  static constexpr bool isPruned(cgx_element_type type) { return type != CGX_F16; }

  bool split(uint64_t begin, uint32_t count, const uint8_t *elements, const ExponentCode &code,
             uint8_t * /*out*/, Parts &parts) const {
    for (uint32_t at = 0; at < count; at += rowElements)
      levelRow(begin, at, std::min(rowElements, count - at), elements, parts.given + at);
    return Loops::split(type, shifts, elements, count, code, parts);
  }

  const uint8_t *raw(const uint8_t *elements, uint32_t count, Parts &parts) const {
    Loops::round(type, shifts, parts.given, elements, count, parts.rounded);
    return parts.rounded;
  }

  uint64_t measure(const Parts &parts) const {
    return levelBytes(parts.notZero) + parts.counts.allBytes(shifts);
  }

  uint8_t *write(const Parts &parts, uint8_t *out) const {
    Loops::packLevels(parts.levels, parts.notZero, out);
    out += levelBytes(parts.notZero);
    for (uint32_t level = 0; level < gcompLevels; ++level) {
      Loops::packMantissas(parts.mantissas[level], parts.counts.of[level], shifts[level], out);
      out += parts.counts.bytes(shifts, level);
    }
    return out;
  }

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
  void levelRow(uint64_t begin, uint32_t at, uint32_t count, const uint8_t *elements, uint8_t *levels) const {
    if (!arguments.optimizer) {
      memset(levels, 0, count);
      return;
    }
    float widened[1 + CGX_KEPT_TENSORS][rowElements];
    MetricRow row = {widen(type, elements, at, count, widened[CGX_KEPT_TENSORS]), {}};
    for (uint32_t kept = 0; kept < CGX_KEPT_TENSORS; ++kept) {
      const KeptTensor &tensor = arguments.optimizer->kept[kept];
      row.kept[kept] =
          cgx_optimizer_keeps(codec.optimizer, kept)
              ? widen(tensor.type, tensor.elements, arguments.firstElement + begin + at, count, widened[kept])
              : nullptr;
    }
    Loops::level(metric, row, count, levels);
  }

  /// Elements [begin, begin + count) of a tensor as f32, in `room` if they are not.
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
