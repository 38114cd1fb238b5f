//===-- Mantissas-inl.h - The loops of gcomp in vectors ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_MANTISSAS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_MANTISSAS
#undef CGX_KERNELS_CPU_SIMD_MANTISSAS
#else
#define CGX_KERNELS_CPU_SIMD_MANTISSAS
#endif

#include "../GcompLoops.h"
#include "Exponents-inl.h"

#include <bit>

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

using Doubles = hn::CappedTag<double, 8>;
using DoubleVector = hn::Vec<Doubles>;

/// As gcompLevel(), operation by operation. Where the metric has no root, what the reference takes the root
/// of is 0, or NaN where something is not finite, and so is its root.
template <bool isRooted>
HWY_INLINE void levelRow(const GcompMetric &metric, const lossless::MetricRow &row, uint32_t count,
                         uint8_t *levels) {
  const Doubles doubles;
  const hn::RebindToUnsigned<Doubles> wide;
  constexpr size_t together = hn::MaxLanes(Doubles());
  const auto set = [&](double value) { return hn::Set(doubles, value); };
  const DoubleVector second = set(metric.second), square = set(metric.square), decay = set(metric.decay),
                     epsilon = set(metric.epsilon), rooted = set(metric.rooted), plain = set(metric.plain),
                     first = set(metric.first), factor = set(metric.gradient),
                     toLevel1 = set(metric.thresholds[0]), toLevel2 = set(metric.thresholds[1]),
                     toLevel3 = set(metric.thresholds[2]);
  uint32_t i = 0;
  for (; i + together <= count; i += together) {
    const auto load = [&](const uint8_t *of) {
      const hn::Rebind<float, Doubles> floats;
      return hn::PromoteTo(doubles, hn::LoadU(floats, reinterpret_cast<const float *>(of) + i));
    };
    const DoubleVector gradient = load(row.gradient), parameter = load(row.kept[CGX_KEPT_PARAMETER]);
    const DoubleVector decayed = hn::Add(gradient, hn::Mul(decay, parameter));
    DoubleVector root = hn::Add(hn::Mul(second, load(row.kept[CGX_KEPT_SECOND_MOMENT])),
                                hn::Mul(square, hn::Mul(decayed, decayed)));
    if constexpr (isRooted)
      root = hn::Sqrt(root);
    const DoubleVector rest =
        hn::Sub(hn::Mul(parameter, hn::Add(hn::Mul(hn::Add(root, epsilon), rooted), plain)),
                hn::Mul(first, load(row.kept[CGX_KEPT_FIRST_MOMENT])));
    const DoubleVector size = hn::Abs(rest), step = hn::Abs(hn::Mul(factor, gradient));
    const auto isAbove = [&](DoubleVector threshold) {
      return hn::IfThenElseZero(hn::RebindMask(wide, hn::Gt(size, hn::Mul(threshold, step))),
                                hn::Set(wide, 1));
    };
    const auto level = hn::Add(hn::Add(isAbove(toLevel1), isAbove(toLevel2)), isAbove(toLevel3));
    const hn::Rebind<uint8_t, Doubles> bytes;
    hn::StoreU(hn::TruncateTo(bytes, level), bytes, levels + i);
  }
  for (; i < count; ++i)
    levels[i] = lossless::levelOf(metric, row, i);
}

/// A table of one entry a level.
HWY_INLINE WordVector tableOfLevels(const lossless::LevelShifts &entries) {
  uint32_t table[lanes] = {};
  std::copy(entries.begin(), entries.end(), table);
  return hn::LoadU(Words(), table);
}

/// As the reference's; beyond the last whole vector it reads a copy that is filled up with zeros.
template <cgx_element_type type>
HWY_INLINE bool splitLeveled(const lossless::LevelShifts &shifts, const uint8_t *levels,
                             const uint8_t *elements, uint32_t count, const ExponentCode &code,
                             lossless::Ahead ahead, lossless::LeveledParts &parts) {
  constexpr bool isF32 = type == CGX_F32;
  const Words words;
  lossless::LevelShifts dropped, halves;
  for (uint32_t level = 0; level < gcompLevels; ++level) {
    dropped[level] = (1u << shifts[level]) - 1;
    halves[level] = (dropped[level] + 1) >> 1;
  }
  const WordVector droppedTable = tableOfLevels(dropped), halfTable = tableOfLevels(halves);
  const WordVector zero = hn::Zero(words), zeros = hn::Set(words, zeroSymbols),
                   offset = hn::Set(words, zeroSymbols - code.first), sign = hn::Set(words, 0x80000000u);
  WordVector largest = zero;
  parts.counts = {};
  uint32_t notZero = 0;
  const auto put = [&](WordVector given, WordVector level, uint32_t i) {
    if (i % lossless::Ahead::rowElements == 0)
      ahead.ask();
    WordVector pruned = given;
    if constexpr (type == CGX_F16)
      level = hn::IfThenZeroElse(hn::Eq(hn::And(given, hn::Set(words, 0x7c000000u)), zero), level);
    else
      pruned = hn::IfThenElse(hn::Eq(hn::And(given, hn::Set(words, 0x7f800000u)), zero), hn::And(given, sign),
                              given);
    const auto indices = hn::IndicesFromVec(words, level);
    const WordVector drop = hn::TableLookupLanes(droppedTable, indices);
    const WordVector rounded = hn::AndNot(drop, hn::Add(pruned, hn::TableLookupLanes(halfTable, indices)));
    const WordVector change = hn::And(hn::Xor(rounded, pruned), hn::Set(words, 0xff800000u));
    const WordVector bits = hn::IfThenElse(hn::Eq(change, zero), rounded, hn::AndNot(drop, pruned));
    storeBits<isF32>(bits, parts.coded, i);

    const WordMask isZero = hn::Eq(hn::Add(bits, bits), zero);
    const WordVector exponent = hn::And(hn::ShiftRight<23>(bits), hn::Set(words, 0xff));
    const WordVector coded = hn::Add(exponent, offset);
    largest = hn::Max(largest, hn::IfThenZeroElse(isZero, hn::Sub(coded, zeros)));
    const WordVector symbol = hn::IfThenElse(isZero, hn::ShiftRight<31>(bits), coded);
    hn::StoreU(hn::TruncateTo(NarrowBytes(), symbol), NarrowBytes(), parts.symbols + i);

    const WordMask isKept = hn::Not(isZero);
    hn::StoreU(hn::TruncateTo(NarrowBytes(), hn::Compress(level, isKept)), NarrowBytes(),
               parts.levels + notZero);
    notZero += uint32_t(hn::CountTrue(words, isKept));
    const WordVector mantissa = hn::Or(hn::And(hn::ShiftRight<8>(bits), hn::Set(words, 0x800000)),
                                       hn::And(bits, hn::Set(words, 0x7fffff)));
    const WordVector levelOfKept = hn::IfThenElse(isZero, hn::Set(words, gcompLevels), level);
    for (uint32_t l = 0; l < gcompLevels; ++l) {
      const WordMask isOfLevel = hn::Eq(levelOfKept, hn::Set(words, l));
      hn::StoreU(hn::Compress(mantissa, isOfLevel), words, parts.mantissas[l] + parts.counts.of[l]);
      parts.counts.of[l] += uint32_t(hn::CountTrue(words, isOfLevel));
    }
  };
  uint32_t i = 0;
  for (; i + lanes <= count; i += lanes)
    put(loadBits<isF32>(elements, i), hn::PromoteTo(words, hn::LoadU(NarrowBytes(), levels + i)), i);
  if (i < count) {
    constexpr uint64_t elementBytes = isF32 ? 4 : 2;
    uint8_t last[lanes * elementBytes] = {}, lastLevels[lanes] = {};
    memcpy(last, elements + i * elementBytes, (count - i) * elementBytes);
    memcpy(lastLevels, levels + i, count - i);
    put(loadBits<isF32>(last, 0), hn::PromoteTo(words, hn::LoadU(NarrowBytes(), lastLevels)), i);
  }
  parts.notZero = notZero;
  return hn::GetLane(hn::MaxOfLanes(words, largest)) < code.symbols - zeroSymbols;
}

/// Each lane of 32 bits has four levels.
HWY_INLINE void packLevelBytes(const uint8_t *levels, uint32_t count, uint8_t *out) {
  const Words words;
  uint32_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const WordVector four = hn::BitCast(words, hn::LoadU(hn::Repartition<uint8_t, Words>(), levels + i));
    const WordVector two = hn::Or(four, hn::ShiftRight<6>(four));
    const WordVector packed = hn::And(hn::Or(two, hn::ShiftRight<12>(two)), hn::Set(words, 0xff));
    hn::StoreU(hn::TruncateTo(NarrowBytes(), packed), NarrowBytes(), out + i / 4);
  }
  lossless::ReferenceGcompLoops::packLevels(levels + i, count - i, out + i / 4);
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// For mantissas of each number of bits above 8: how eight pairs of them become a sequence. Words are of 16
/// bits. The words of a pair, which is shifted by less than a word, go to where its first bit is; no two of
/// the even pairs have bits in one word, nor two of the odd pairs.
struct PairsToSequence {
  uint64_t shift[8];
  uint16_t even[32], odd[32];
  uint32_t hasEven, hasOdd;
};
inline constexpr auto pairsToSequence = [] {
  std::array<PairsToSequence, 25> tables = {};
  for (uint32_t bits = 9; bits <= 24; ++bits)
    for (uint32_t pair = 0; pair < 8; ++pair) {
      const uint32_t begin = pair * 2 * bits, end = begin + 2 * bits;
      PairsToSequence &table = tables[bits];
      table.shift[pair] = begin % 16;
      for (uint32_t word = begin / 16; word < (end + 15) / 16; ++word) {
        (pair % 2 ? table.odd : table.even)[word] = uint16_t(4 * pair + word - begin / 16);
        (pair % 2 ? table.hasOdd : table.hasEven) |= 1u << word;
      }
    }
  return tables;
}();

/// Up to eight bits each: the bytes of eight are put together by one instruction.
HWY_INLINE uint32_t packNarrow(const uint32_t *mantissas, uint32_t count, uint32_t shift, uint8_t *out) {
  const uint32_t bits = 24 - shift;
  const uint64_t bytes = (uint64_t(count) * bits + 7) / 8, mask = 0x0101010101010101u * ((1u << bits) - 1);
  uint32_t i = 0;
  for (uint64_t at = 0; i + 16 <= count && at + bits + 8 <= bytes; i += 16, at += 2 * bits) {
    const auto values = hn::ShiftRightSame(hn::LoadU(Words(), mantissas + i), int(shift));
    uint64_t eights[2];
    hn::StoreU(hn::TruncateTo(NarrowBytes(), values), NarrowBytes(), reinterpret_cast<uint8_t *>(eights));
    const uint64_t low = _pext_u64(eights[0], mask), high = _pext_u64(eights[1], mask);
    memcpy(out + at, &low, sizeof low);
    memcpy(out + at + bits, &high, sizeof high);
  }
  return i;
}

HWY_INLINE uint32_t packWide(const uint32_t *mantissas, uint32_t count, uint32_t shift, uint8_t *out) {
  const hn::Repartition<uint64_t, Words> wide;
  const uint32_t bits = 24 - shift;
  const uint64_t bytes = (uint64_t(count) * bits + 7) / 8;
  const PairsToSequence &table = pairsToSequence[bits];
  const auto shifts = hn::LoadU(wide, table.shift), low = hn::Set(wide, 0xffffffffu);
  const HalfVector even = hn::LoadU(Halves(), table.even), odd = hn::LoadU(Halves(), table.odd);
  uint32_t i = 0;
  for (uint64_t at = 0; i + 16 <= count && at + 64 <= bytes; i += 16, at += 2 * bits) {
    const auto two = hn::BitCast(wide, hn::ShiftRightSame(hn::LoadU(Words(), mantissas + i), int(shift)));
    const auto pairs =
        hn::Shl(hn::Or(hn::And(two, low), hn::ShiftLeftSame(hn::ShiftRight<32>(two), int(bits))), shifts);
    const __m512i sequence =
        _mm512_or_si512(_mm512_maskz_permutexvar_epi16(table.hasEven, even.raw, pairs.raw),
                        _mm512_maskz_permutexvar_epi16(table.hasOdd, odd.raw, pairs.raw));
    _mm512_storeu_si512(out + at, sequence);
  }
  return i;
}
#endif

/// Sixteen mantissas fill whole bytes. Whole vectors are stored, as far as they end before the sequence does.
HWY_INLINE void packMantissasOf(const uint32_t *mantissas, uint32_t count, uint32_t shift, uint8_t *out) {
  uint32_t i = 0;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  i = shift >= 16 ? packNarrow(mantissas, count, shift, out) : packWide(mantissas, count, shift, out);
#endif
  lossless::ReferenceGcompLoops::packMantissas(mantissas + i, count - i, shift,
                                               out + uint64_t(i) * (24 - shift) / 8);
}

HWY_INLINE lossless::LevelCounts countPackedLevels(const uint8_t *levels, uint32_t count) {
  constexpr uint64_t lowBits = 0x5555555555555555u;
  uint32_t low = 0, high = 0, both = 0;
  for (uint32_t i = 0; i < count; i += 32) {
    const uint32_t left = count - i;
    uint64_t word = 0;
    memcpy(&word, levels + i / 4, std::min(lossless::levelBytes(left), uint64_t(8)));
    if (left < 32) // bits behind the last level do not count
      word &= (uint64_t(1) << 2 * left) - 1;
    low += uint32_t(std::popcount(word & lowBits));
    high += uint32_t(std::popcount((word >> 1) & lowBits));
    both += uint32_t(std::popcount(word & (word >> 1) & lowBits));
  }
  return {{count - low - high + both, low - both, high - both, both}};
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// For mantissas of each number of bits: which two words of 16 bits have one, and from which bit on.
struct SequenceToWords {
  uint16_t halves[32];
  uint32_t shift[16];
  bool fits; ///< whether none has bits in a third word
};
inline constexpr auto sequenceToWords = [] {
  std::array<SequenceToWords, 25> tables = {};
  for (uint32_t bits = 1; bits <= 24; ++bits) {
    tables[bits].fits = true;
    for (uint32_t i = 0; i < 16; ++i) {
      tables[bits].halves[2 * i] = uint16_t(i * bits / 16);
      tables[bits].halves[2 * i + 1] = uint16_t(i * bits / 16 + 1);
      tables[bits].shift[i] = i * bits % 16;
      tables[bits].fits &= i * bits % 16 + bits <= 32;
    }
  }
  return tables;
}();
#endif

/// Mantissas of one level; up to 64 bytes are read, and up to 64 written behind them.
HWY_INLINE void unpackMantissas(const uint8_t *begin, uint32_t count, uint32_t shift, uint32_t *mantissas) {
  uint32_t i = 0;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const uint32_t bits = 24 - shift;
  const SequenceToWords &table = sequenceToWords[bits];
  if (table.fits) {
    const Words words;
    const HalfVector halves = hn::LoadU(Halves(), table.halves);
    const WordVector shifts = hn::LoadU(words, table.shift), mask = hn::Set(words, (1u << bits) - 1);
    for (; i < count; i += 16, begin += 2 * bits) {
      const HalfVector sequence = hn::LoadU(Halves(), reinterpret_cast<const uint16_t *>(begin));
      const WordVector both =
          hn::BitCast(words, HalfVector{_mm512_permutexvar_epi16(halves.raw, sequence.raw)});
      hn::StoreU(hn::ShiftLeftSame(hn::And(hn::Shr(both, shifts), mask), int(shift)), words, mantissas + i);
    }
    return;
  }
#endif
  for (; i < count; ++i)
    mantissas[i] = lossless::mantissaAt(begin, i, shift);
}

/// Where the mask has lanes the first lanes of `x`, in order; elsewhere `other`.
HWY_INLINE WordVector expandInto(WordVector other, WordVector x, WordMask mask) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return WordVector{_mm512_mask_expand_epi32(other.raw, mask.raw, x.raw)};
#else
  return hn::IfThenElse(mask, expand(x, mask), other);
#endif
}

HWY_INLINE void openLeveled(const uint8_t *levels, const lossless::LevelCounts &counts,
                            const lossless::LevelShifts &shifts,
                            const std::array<const uint8_t *, gcompLevels> &begins,
                            lossless::LeveledMantissaWords &opened) {
  const Words words;
  const uint32_t *next[gcompLevels];
  for (uint32_t level = 0; level < gcompLevels; ++level) {
    unpackMantissas(begins[level], counts.of[level], shifts[level], opened.ofLevel[level]);
    next[level] = opened.ofLevel[level];
  }
  const WordVector places = hn::Add(hn::Iota(words, 0), hn::Iota(words, 0));
  for (uint32_t i = 0; i < counts.all(); i += lanes) {
    uint32_t packed;
    memcpy(&packed, levels + i / 4, sizeof packed);
    const WordVector level =
        hn::And(hn::Shr(hn::Set(words, packed), places), hn::Set(words, gcompLevels - 1));
    WordVector mantissas = hn::Zero(words);
    for (uint32_t l = 0; l < gcompLevels; ++l) {
      const WordMask isOfLevel = hn::Eq(level, hn::Set(words, l));
      mantissas = expandInto(mantissas, hn::LoadU(words, next[l]), isOfLevel);
      next[l] += hn::CountTrue(words, isOfLevel);
    }
    hn::StoreU(mantissas, words, opened.mantissas + i);
  }
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
