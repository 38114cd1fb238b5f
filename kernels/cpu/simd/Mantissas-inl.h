//===-- Mantissas-inl.h - Mantissas of gcomp in vectors --------*- C++ -*-===//
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

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

#if !(HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86)
/// Returns a table with one entry for each level.
HWY_INLINE WordVector tableOfLevels(const lossless::LevelShifts &entries) {
  uint32_t table[lanes] = {};
  std::copy(entries.begin(), entries.end(), table);
  return hn::LoadU(Words(), table);
}

/// The bits that rounding to each level clears, and the half that it adds before.
struct LevelRounding {
  explicit LevelRounding(const lossless::LevelShifts &shifts) {
    lossless::LevelShifts drops, ups;
    for (uint32_t level = 0; level < gcompLevels; ++level) {
      drops[level] = (1u << shifts[level]) - 1;
      ups[level] = (drops[level] + 1) >> 1;
    }
    dropped = tableOfLevels(drops);
    half = tableOfLevels(ups);
  }

  WordVector dropped, half;
};

/// The elements of a vector after pruning and rounding.
struct RoundedElement {
  WordVector bits, level;
  WordMask isZero;
};

template <cgx_element_type type>
HWY_INLINE RoundedElement roundToLevel(const LevelRounding &rounding, WordVector given, WordVector level) {
  const Words words;
  const WordVector zero = hn::Zero(words);
  const WordMask hasNoExponent = hn::Eq(hn::And(given, hn::Set(words, 0x7f800000u)), zero);
  WordVector pruned = given;
  if constexpr (type == CGX_F16)
    level = hn::IfThenZeroElse(hn::Eq(hn::And(given, hn::Set(words, 0x7c000000u)), zero), level);
  else
    pruned = hn::IfThenElse(hasNoExponent, hn::And(given, hn::Set(words, 0x80000000u)), given);
  const auto indices = hn::IndicesFromVec(words, level);
  const WordVector dropped = hn::TableLookupLanes(rounding.dropped, indices);
  const WordVector rounded =
      hn::AndNot(dropped, hn::Add(pruned, hn::TableLookupLanes(rounding.half, indices)));
  const WordVector change = hn::And(hn::Xor(rounded, pruned), hn::Set(words, 0xff800000u));
  const WordVector bits = hn::IfThenElse(hn::Eq(change, zero), rounded, hn::AndNot(dropped, pruned));
  return {bits, level, type == CGX_F16 ? hn::Eq(hn::Add(bits, bits), zero) : hasNoExponent};
}

/// Splits a block as the reference does. Past the last whole vector it reads a copy that is filled up with
/// zeros.
template <cgx_element_type type>
HWY_INLINE bool splitLeveled(const lossless::LevelShifts &shifts, const uint8_t *elements, uint32_t count,
                             const ExponentCode &code, lossless::LeveledParts &parts) {
  constexpr bool isF32 = type == CGX_F32;
  const Words words;
  const LevelRounding rounding(shifts);
  const WordVector first = hn::Set(words, code.first);
  WordVector largest = hn::Zero(words);
  uint8_t *levelsOfKept = parts.levels;
  uint32_t *ofLevel[gcompLevels];
  for (uint32_t l = 0; l < gcompLevels; ++l)
    ofLevel[l] = parts.mantissas[l];
  const auto put = [&](WordVector given, WordVector levelGiven, uint32_t i) {
    const auto [bits, level, isZero] = roundToLevel<type>(rounding, given, levelGiven);
    const WordVector fromFirst = hn::Sub(hn::And(hn::ShiftRight<23>(bits), hn::Set(words, 0xff)), first);
    largest = hn::Max(largest, hn::IfThenZeroElse(isZero, fromFirst));
    const WordVector symbol =
        hn::IfThenElse(isZero, hn::ShiftRight<31>(bits), hn::Add(fromFirst, hn::Set(words, zeroSymbols)));
    storeBytes(symbol, parts.symbols + i);

    storeBytes(compress(level, hn::Not(isZero)), levelsOfKept);
    const WordVector mantissa = hn::Or(hn::And(bits, hn::Set(words, 0x7fffff)),
                                       hn::And(hn::ShiftRight<8>(bits), hn::Set(words, 0x800000)));
    const WordVector levelOrNone = hn::IfThenElse(isZero, hn::Set(words, gcompLevels), level);
    for (uint32_t l = 0; l < gcompLevels; ++l) {
      const WordMask isOfLevel = hn::Eq(levelOrNone, hn::Set(words, l));
      hn::StoreU(compress(mantissa, isOfLevel), words, ofLevel[l]);
      const size_t of = hn::CountTrue(words, isOfLevel);
      ofLevel[l] += of;
      levelsOfKept += of;
    }
  };
  uint32_t i = 0;
  for (; i + lanes <= count; i += lanes)
    put(loadBits<isF32>(elements, i), hn::PromoteTo(words, hn::LoadU(NarrowBytes(), parts.given + i)), i);
  if (i < count) {
    constexpr uint64_t elementBytes = isF32 ? 4 : 2;
    uint8_t last[lanes * elementBytes] = {}, lastLevels[lanes] = {};
    memcpy(last, elements + i * elementBytes, (count - i) * elementBytes);
    memcpy(lastLevels, parts.given + i, count - i);
    put(loadBits<isF32>(last, 0), hn::PromoteTo(words, hn::LoadU(NarrowBytes(), lastLevels)), i);
  }
  for (uint32_t l = 0; l < gcompLevels; ++l)
    parts.counts.of[l] = uint32_t(ofLevel[l] - parts.mantissas[l]);
  parts.notZero = parts.counts.all();
  return hn::GetLane(hn::MaxOfLanes(words, largest)) < code.symbols - zeroSymbols;
}

/// Rounds elements as the reference does.
template <cgx_element_type type>
HWY_INLINE void roundLeveled(const lossless::LevelShifts &shifts, const uint8_t *levels,
                             const uint8_t *elements, uint32_t count, uint8_t *rounded) {
  constexpr bool isF32 = type == CGX_F32;
  const LevelRounding rounding(shifts);
  uint32_t i = 0;
  for (; i + lanes <= count; i += lanes)
    storeBits<isF32>(roundToLevel<type>(rounding, loadBits<isF32>(elements, i),
                                        hn::PromoteTo(Words(), hn::LoadU(NarrowBytes(), levels + i)))
                         .bits,
                     rounded, i);
  for (; i < count; ++i)
    lossless::storeRounded(type, shifts, levels, elements, i, rounded);
}

/// Packs levels of two bits. Each lane of 32 bits holds four levels.
HWY_INLINE void packLevelBytes(const uint8_t *levels, uint32_t count, uint8_t *out) {
  const Words words;
  uint32_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const WordVector four = hn::BitCast(words, hn::LoadU(hn::Repartition<uint8_t, Words>(), levels + i));
    const WordVector two = hn::Or(four, hn::ShiftRight<6>(four));
    const WordVector packed = hn::And(hn::Or(two, hn::ShiftRight<12>(two)), hn::Set(words, 0xff));
    storeBytes(packed, out + i / 4);
  }
  lossless::ReferenceGcompLoops::packLevels(levels + i, count - i, out + i / 4);
}
#endif

HWY_INLINE lossless::LevelCounts countPackedLevels(const uint8_t *levels, uint32_t count) {
  const hn::Repartition<uint64_t, Words> wide;
  constexpr uint32_t together = 32 * hn::MaxLanes(wide);
  const auto lowBits = hn::Set(wide, 0x5555555555555555u);
  auto low = hn::Zero(wide), high = low, both = low;
  const auto add = [&](auto bits) {
    const auto lows = hn::And(bits, lowBits), highs = hn::And(hn::ShiftRight<1>(bits), lowBits);
    low = hn::Add(low, hn::PopulationCount(lows));
    high = hn::Add(high, hn::PopulationCount(highs));
    both = hn::Add(both, hn::PopulationCount(hn::And(lows, highs)));
  };
  uint32_t i = 0;
  for (; i + together <= count; i += together)
    add(hn::LoadU(wide, reinterpret_cast<const uint64_t *>(levels + i / 4)));
  if (i < count) {
    uint64_t last[hn::MaxLanes(wide)] = {};
    auto *const bytes = reinterpret_cast<uint8_t *>(last);
    memcpy(bytes, levels + i / 4, lossless::levelBytes(count - i));
    if (count % 4 != 0) // bits after the last level do not count
      bytes[(count - i) / 4] &= uint8_t((1u << count % 4 * 2) - 1);
    add(hn::LoadU(wide, last));
  }
  const auto sumOf = [&](auto of) { return uint32_t(hn::GetLane(hn::SumOfLanes(wide, of))); };
  const uint32_t ofLow = sumOf(low), ofHigh = sumOf(high), ofBoth = sumOf(both);
  return {{count - ofLow - ofHigh + ofBoth, ofLow - ofBoth, ofHigh - ofBoth, ofBoth}};
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// The tables that make words of mantissas, for each number of bits: the two words of 16 bits that hold a
/// mantissa, and its first bit.
struct SequenceToWords {
  uint16_t halves[32];
  uint32_t shift[16];
  bool fits; ///< whether no mantissa reaches into a third word
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

/// Unpacks mantissas of one level. It reads and writes up to 64 bytes after them.
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

/// Spreads the mantissas from `from` on, in order, to the lanes that the mask has. The other lanes are 0.
HWY_INLINE WordVector spread(const uint32_t *from, WordMask mask) {
  const Words words;
  // The source is a register, because expanding from memory takes many times as long.
  const WordVector x = hn::BitCast(words, keepInRegister(hn::BitCast(Floats(), hn::LoadU(words, from))));
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return expand(x, mask); // it leaves zeros in the other lanes
#else
  return hn::IfThenElseZero(mask, expand(x, mask));
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
  const uint32_t count = counts.all();
  for (uint32_t i = 0; i < count; i += lanes) {
    uint32_t packed;
    memcpy(&packed, levels + i / 4, sizeof packed);
    const WordVector level =
        hn::And(hn::Shr(hn::Set(words, packed), places), hn::Set(words, gcompLevels - 1));
    WordVector mantissas = hn::Zero(words);
    for (uint32_t l = 0; l < gcompLevels; ++l) {
      const WordMask isOfLevel = hn::Eq(level, hn::Set(words, l));
      mantissas = hn::Or(mantissas, spread(next[l], isOfLevel));
      next[l] += hn::CountTrue(words, isOfLevel);
    }
    hn::StoreU(mantissas, words, opened.mantissas + i);
  }
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
