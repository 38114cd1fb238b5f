//===-- kernels/cpu/GcompBody.h - Mantissas as long as their levels ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mantissas of a block of gcomp, where a block of lossless has those of all bits: the levels of all
// elements that are not zero, two bits each, and level by level the signs and mantissas of its elements, as
// many bits of each as the level has, filled up to whole bytes.
//
// Loops of an instruction set provide, beside those of LosslessBody.h,
//
//   level(metric, row, levels): the levels of a row of elements.
#ifndef CGX_KERNELS_CPU_GCOMPBODY_H
#define CGX_KERNELS_CPU_GCOMPBODY_H

#include "LosslessBody.h"
#include "cgx/kernels/gcomp.h"

#include <bit>

namespace cgx::lossless {

/// Elements that the metric is computed of at a time.
constexpr uint32_t rowElements = 256;

/// What the metric of a row is made of, widened; what the optimizer does not keep is 0.
struct MetricRow {
  float gradient[rowElements], kept[CGX_KEPT_COUNT][rowElements];
};

CGX_DEVICE_INLINE void levelRow(const GcompMetric &metric, const MetricRow &row, uint8_t *levels) {
  const float *parameter = row.kept[CGX_KEPT_PARAMETER], *first = row.kept[CGX_KEPT_FIRST_MOMENT],
              *second = row.kept[CGX_KEPT_SECOND_MOMENT];
  for (uint32_t i = 0; i < rowElements; ++i)
    levels[i] = uint8_t(gcompLevel(metric, row.gradient[i], parameter[i], first[i], second[i]));
}

/// Widens elements [begin, begin + count) of a tensor.
inline void widen(cgx_element_type type, const void *elements, uint64_t begin, uint32_t count, float *out) {
  if (type == CGX_F32)
    memcpy(out, static_cast<const uint8_t *>(elements) + 4 * begin, 4 * count);
  else
    for (uint32_t i = 0; i < count; ++i)
      out[i] = loadElement(sourceOf(type), elements, begin + i);
}

/// How many elements of a block each level has, and what follows from that.
struct LevelCounts {
  uint32_t of[gcompLevels] = {};

  static uint32_t bitsOf(const cgx_codec &codec, cgx_element_type type, uint32_t level) {
    return 24 - gcompShift(codec, type, level);
  }
  /// Of the mantissas of a level.
  uint64_t bytes(const cgx_codec &codec, cgx_element_type type, uint32_t level) const {
    return (uint64_t(of[level]) * bitsOf(codec, type, level) + 7) / 8;
  }
  uint64_t allBytes(const cgx_codec &codec, cgx_element_type type) const {
    uint64_t sum = 0;
    for (uint32_t level = 0; level < gcompLevels; ++level)
      sum += bytes(codec, type, level);
    return sum;
  }
};

/// Bytes of the levels of so many elements.
constexpr uint64_t levelBytes(uint32_t notZero) { return (notZero + 3) / 4; }

CGX_DEVICE_INLINE uint32_t levelAt(const uint8_t *levels, uint32_t i) {
  return (levels[i / 4] >> (i % 4 * 2)) & 3;
}

/// A sequence of bits, lowest first, which writes no byte behind its end: that is where the next one begins.
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

  uint8_t *end() {
    memcpy(out, &waiting, (waitingBits + 7) / 8);
    return out + (waitingBits + 7) / 8;
  }

private:
  uint8_t *out;
  uint64_t waiting = 0;
  uint32_t waitingBits = 0; ///< fewer than 32 between calls
};

/// As `LosslessBody.h` describes it.
class LeveledMantissas {
public:
  explicit LeveledMantissas(const EncodeArguments &arguments)
      : arguments(arguments), codec(*arguments.codec), type(arguments.type) {
    if (arguments.optimizer)
      metric = makeGcompMetric(codec, type, arguments.optimizer->kept[CGX_KEPT_PARAMETER].type,
                               arguments.optimizer->update);
  }

  uint32_t countedBits(uint32_t bits) const { return gcompPruned(type, bits); }

  template <typename Loops> const uint8_t *prepare(uint64_t begin, uint32_t count, const uint8_t *elements) {
    for (uint32_t at = 0; at < count; at += rowElements)
      levelElements<Loops>(begin, at, std::min(rowElements, count - at), elements);
    uint32_t shifts[gcompLevels];
    for (uint32_t level = 0; level < gcompLevels; ++level)
      shifts[level] = gcompShift(codec, type, level);
    if (type == CGX_F32)
      roundElements<CGX_F32>(shifts, count, elements);
    else if (type == CGX_F16)
      roundElements<CGX_F16>(shifts, count, elements);
    else
      roundElements<CGX_BF16>(shifts, count, elements);
    return coded;
  }

  /// Keeps the levels of those elements that have mantissas.
  uint64_t measure(const Parts &parts) {
    counts = {};
    uint32_t kept = 0;
    for (uint32_t i = 0, notZero = parts.notZero; kept < notZero; ++i) {
      levels[kept] = levels[i];
      kept += uint32_t(parts.symbols[i] >= zeroSymbols);
    }
    for (uint32_t i = 0; i < kept; ++i)
      ++counts.of[levels[i]];
    return levelBytes(kept) + counts.allBytes(codec, type);
  }

  uint8_t *write(const Parts &parts, uint8_t *out) {
    memset(out, 0, levelBytes(parts.notZero));
    for (uint32_t i = 0; i < parts.notZero; ++i)
      out[i / 4] |= uint8_t(levels[i] << (i % 4 * 2));
    out += levelBytes(parts.notZero);
    for (uint32_t level = 0; level < gcompLevels; ++level)
      out = writeLevel(parts, level, out);
    return out;
  }

  static uint64_t measureWritten(const DecodeArguments &arguments, const Block &block, uint64_t most) {
    if (levelBytes(block.notZero) > most)
      return most + 1;
    return levelBytes(block.notZero) + countLevels(block).allBytes(*arguments.codec, arguments.type);
  }

  static constexpr uint32_t mostBytes = blockElements / 4 + 3 * blockElements;

  /// The parts of elements with all their bits, those that were not sent being 0.
  struct Opened {
    uint8_t low[2 * blockElements + 2 * partSlack], rest[blockElements + partSlack];
  };

  static void open(const DecodeArguments &arguments, Block &block, Opened &opened) {
    const cgx_codec &codec = *arguments.codec;
    const LevelCounts counts = countLevels(block);
    const uint8_t *begin[gcompLevels], *at = block.mantissas + levelBytes(block.notZero);
    uint64_t bit[gcompLevels] = {};
    uint32_t shifts[gcompLevels];
    for (uint32_t level = 0; level < gcompLevels; ++level) {
      shifts[level] = gcompShift(codec, arguments.type, level);
      begin[level] = at;
      at += counts.bytes(codec, arguments.type, level);
    }
    for (uint32_t i = 0; i < block.notZero; ++i) {
      const uint32_t level = levelAt(block.mantissas, i), shift = shifts[level], bits = 24 - shift;
      uint32_t next; // blocks have room to read behind them
      memcpy(&next, begin[level] + bit[level] / 8, sizeof next);
      const uint32_t mantissa = ((next >> bit[level] % 8) & ((1u << bits) - 1)) << shift;
      bit[level] += bits;
      const auto low = uint16_t(mantissa);
      memcpy(opened.low + 2 * i, &low, sizeof low);
      opened.rest[i] = uint8_t(mantissa >> 16);
    }
    block.low = opened.low;
    block.rest = opened.rest;
  }

private:
  static LevelCounts countLevels(const Block &block) {
    constexpr uint64_t lowBits = 0x5555555555555555u;
    uint32_t low = 0, high = 0, both = 0;
    for (uint32_t i = 0; i < block.notZero; i += 32) {
      const uint32_t left = block.notZero - i;
      uint64_t word = 0;
      memcpy(&word, block.mantissas + i / 4, std::min(levelBytes(left), uint64_t(8)));
      if (left < 32) // bits behind the last level do not count
        word &= (uint64_t(1) << 2 * left) - 1;
      low += uint32_t(std::popcount(word & lowBits));
      high += uint32_t(std::popcount((word >> 1) & lowBits));
      both += uint32_t(std::popcount(word & (word >> 1) & lowBits));
    }
    return {{block.notZero - low - high + both, low - both, high - both, both}};
  }

  /// Finds the levels of elements [at, at + count) of the block that begins with element `begin`.
  template <typename Loops>
  void levelElements(uint64_t begin, uint32_t at, uint32_t count, const uint8_t *elements) {
    if (!arguments.optimizer) {
      memset(levels + at, 0, count);
      return;
    }
    MetricRow row = {};
    widen(type, elements, at, count, row.gradient);
    for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
      if (cgx_optimizer_keeps(codec.optimizer, kept)) {
        const KeptTensor &tensor = arguments.optimizer->kept[kept];
        widen(tensor.type, tensor.elements, arguments.firstElement + begin + at, count, row.kept[kept]);
      }
    Loops::level(metric, row, levels + at);
  }

  /// First those of the level together, without a branch that nobody could predict; then their bits.
  uint8_t *writeLevel(const Parts &parts, uint32_t level, uint8_t *out) {
    if (counts.of[level] == 0)
      return out;
    const uint32_t shift = gcompShift(codec, type, level), notZero = parts.notZero;
    const bool hasLow = type == CGX_F32;
    uint32_t count = 0;
    for (uint32_t i = 0; i < notZero; ++i) {
      const uint32_t low = hasLow ? loadBits16(parts.low, i) : 0;
      ofLevel[count] = (uint32_t(parts.rest[i]) << 16 | low) >> shift;
      count += uint32_t(levels[i] == level);
    }
    MantissaWriter writer(out);
    for (uint32_t i = 0; i < count; ++i)
      writer.put(ofLevel[i], 24 - shift);
    return writer.end();
  }

  /// Of one type, and with no byte that is written among what the loop reads anew.
  template <cgx_element_type of>
  void roundElements(const uint32_t *shifts, uint32_t count, const uint8_t *elements) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t bits = gcompPruned(of, bitsAt(of, elements, i));
      const uint32_t level = gcompIsShort(of, bits) ? 0 : levels[i];
      levels[i] = uint8_t(level);
      const uint32_t rounded = gcompRounded(bits, shifts[level]);
      if constexpr (of == CGX_F32)
        storeTo(coded + 4 * i, rounded);
      else
        storeTo(coded + 2 * i, uint16_t(rounded >> 16));
    }
  }

  const EncodeArguments &arguments;
  const cgx_codec &codec;
  cgx_element_type type;
  GcompMetric metric;
  /// Of the elements of a block; once it is measured, of those that are not zero.
  uint8_t levels[blockElements];
  LevelCounts counts;
  uint8_t coded[4 * blockElements];
  uint32_t ofLevel[blockElements + 1]; ///< mantissas, and room for one more
};

} // namespace cgx::lossless

#endif // CGX_KERNELS_CPU_GCOMPBODY_H
