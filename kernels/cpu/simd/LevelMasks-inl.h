//===-- LevelMasks-inl.h - Elements of each level as masks ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file encodes blocks of gcomp where masks are registers of their own (AVX-512). The elements of a level
// are a mask of one bit each; they are taken out of the block, rounded and packed level by level.

#if defined(CGX_KERNELS_CPU_SIMD_LEVELMASKS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_LEVELMASKS
#undef CGX_KERNELS_CPU_SIMD_LEVELMASKS
#else
#define CGX_KERNELS_CPU_SIMD_LEVELMASKS
#endif

#include "../GcompLoops.h"
#include "Exponents-inl.h"
#include "Levels-inl.h"

#include <bit>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86

constexpr uint32_t maskElements = 64, blockMasks = lossless::blockElements / maskElements;
static_assert(elementsOfBytes == maskElements);

struct MaskedParts {
  alignas(64) uint8_t symbols[lossless::blockElements + lossless::partSlack];
  alignas(64) uint32_t room[lossless::blockElements + lossless::partSlack]; ///< bits of a level's elements
  uint64_t reached[gcompLevels - 1][blockMasks]; ///< the elements whose level is at least 1, 2 and 3
  uint64_t ofLevel[gcompLevels][blockMasks];     ///< the elements of each level that are not zero
  const uint8_t *elements;
  cgx_element_type type;
  uint32_t count, notZero;
  lossless::LevelCounts counts;
  alignas(64) uint8_t rounded[4 * lossless::blockElements]; ///< the elements of an uncompressed block
};

/// Returns the 16 bits of a mask from element `i` on, a multiple of 16.
HWY_INLINE __mmask16 maskAt(const uint64_t *masks, uint32_t i) {
  uint16_t bits;
  memcpy(&bits, reinterpret_cast<const uint8_t *>(masks) + i / 8, sizeof bits);
  return bits;
}
inline void maskNoLevels(uint32_t at, uint32_t count, MaskedParts &parts) {
  for (auto &reached : parts.reached)
    memset(reached + at / maskElements, 0, (count + maskElements - 1) / maskElements * sizeof *reached);
}

/// An estimate of the metric in f32, which is good enough to find the levels of most elements. Its ratio of
/// |rest| to |step g| is within 2^-10 of that in f64, unless it reports that it may not be. The errors are
/// those of roots and reciprocals, 2^-14 each, and of a few roundings; the error of the root is eight times
/// as large where the first moment cancels most of the parameter. Operands too small for f32 beside larger
/// ones add at most 2^-22.
template <bool isRooted, bool hasFirst> class LevelEstimate {
public:
  explicit LevelEstimate(const GcompMetric &metric) {
    const double step = std::fabs(metric.gradient);
    const double ofParameter =
        isRooted ? metric.rooted : (0.0 + metric.epsilon) * metric.rooted + metric.plain;
    factor = float(ofParameter / step);
    first = float(metric.first / step);
    second = float(metric.second);
    square = float(metric.square);
    epsilon = float(metric.epsilon);
    const auto isOrdinary = [](double x) {
      return x == 0 || (std::fabs(x) >= 0x1p-60 && std::fabs(x) <= 0x1p60);
    };
    isGood = step >= 0x1p-60 && step <= 0x1p60 && isOrdinary(factor) && isOrdinary(first) &&
             metric.thresholds[0] >= 0x1p-10 && metric.thresholds[gcompLevels - 2] <= 0x1p30;
    // A decayed gradient is a sum whose terms may cancel out.
    if constexpr (isRooted)
      isGood &= metric.decay == 0 && metric.plain == 0 && isOrdinary(second) && isOrdinary(square) &&
                isOrdinary(epsilon) && second >= 0 && second <= 0x1p20f && square >= 0 && square <= 0x1p20f &&
                epsilon >= 0;
    for (uint32_t l = 0; l < gcompLevels - 1; ++l) {
      below[l] = float(metric.thresholds[l] * (1 - 0x1p-10));
      above[l] = float(metric.thresholds[l] * (1 + 0x1p-10));
    }
  }

  /// Returns whether the estimate can be used with this metric.
  bool isUsable() const { return isGood; }

  struct Levels {
    __mmask16 reached[gcompLevels - 1];
    __mmask16 unsure;
  };

  /// Estimates the levels of the 16 elements from i on. Elements with the exponent 0 are coded as zeros,
  /// which have no level.
  HWY_INLINE Levels at(const lossless::MetricRow &row, uint32_t i) const {
    const auto load = [&](const uint8_t *of) {
      return _mm512_loadu_ps(reinterpret_cast<const float *>(of) + i);
    };
    const __m512 gradient = load(row.gradient), size = _mm512_abs_ps(gradient);
    __m512 rest = load(row.kept[CGX_KEPT_PARAMETER]);
    __mmask16 unsure = 0;
    if constexpr (isRooted) {
      const __m512 moment = load(row.kept[CGX_KEPT_SECOND_MOMENT]);
      const __m512 sum =
          _mm512_fmadd_ps(_mm512_set1_ps(second), moment,
                          _mm512_mul_ps(_mm512_set1_ps(square), _mm512_mul_ps(gradient, gradient)));
      // This is also true for NaN. If the moment is negative, the sum is a difference.
      unsure = _mm512_cmp_ps_mask(sum, _mm512_set1_ps(0x1p-100f), _CMP_NGE_UQ) |
               _mm512_movepi32_mask(_mm512_castps_si512(moment));
      const __m512 root = _mm512_mul_ps(sum, _mm512_rsqrt14_ps(sum));
      rest = _mm512_mul_ps(
          rest, _mm512_mul_ps(_mm512_add_ps(root, _mm512_set1_ps(epsilon)), _mm512_set1_ps(factor)));
    } else {
      rest = _mm512_mul_ps(rest, _mm512_set1_ps(factor));
    }
    if constexpr (hasFirst) {
      const __m512 minuend = _mm512_abs_ps(rest);
      rest = _mm512_fnmadd_ps(_mm512_set1_ps(first), load(row.kept[CGX_KEPT_FIRST_MOMENT]), rest);
      unsure |= _mm512_cmp_ps_mask(_mm512_abs_ps(rest), _mm512_mul_ps(minuend, _mm512_set1_ps(0.125f)),
                                   _CMP_NGE_UQ);
    }
    const __m512 ratio = _mm512_mul_ps(_mm512_abs_ps(rest), _mm512_rcp14_ps(size));
    Levels levels;
    for (uint32_t l = 0; l < gcompLevels - 1; ++l) {
      levels.reached[l] = _mm512_cmp_ps_mask(ratio, _mm512_set1_ps(above[l]), _CMP_GT_OQ);
      unsure |= _mm512_cmp_ps_mask(ratio, _mm512_set1_ps(below[l]), _CMP_NLT_UQ) & ~levels.reached[l];
    }
    // Large gradients and ratios may have left the range of f32, or have reciprocals near its end.
    unsure |= _mm512_cmp_ps_mask(_mm512_max_ps(size, ratio), _mm512_set1_ps(0x1p120f), _CMP_NLT_UQ);
    levels.unsure =
        unsure & _mm512_test_epi32_mask(_mm512_castps_si512(gradient), _mm512_set1_epi32(0x7f800000));
    return levels;
  }

private:
  float factor, first, second, square, epsilon, below[gcompLevels - 1], above[gcompLevels - 1];
  bool isGood;
};

/// Computes the masks of the 16 elements from i on, level by level.
template <bool isRooted, bool hasFirst>
HWY_INLINE void exactMasks(const LevelMetric<isRooted, hasFirst> &metric, const lossless::MetricRow &row,
                           uint32_t i, uint32_t (&masks)[gcompLevels - 1]) {
  metric.level(row, i, [&](uint32_t level, auto mask) { masks[level - 1] = mask.raw; });
  metric.level(row, i + 8, [&](uint32_t level, auto mask) { masks[level - 1] |= uint32_t(mask.raw) << 8; });
}

/// Computes the masks of whole 64 elements and returns the number of these elements. Its outputs must not
/// overlap its inputs.
template <bool isRooted, bool hasFirst>
HWY_INLINE uint32_t maskWhole(const GcompMetric &ofOptimizer, const lossless::MetricRow &givenRow,
                              uint32_t count, uint64_t *HWY_RESTRICT one, uint64_t *HWY_RESTRICT two,
                              uint64_t *HWY_RESTRICT three) {
  const lossless::MetricRow row = givenRow;
  const LevelMetric<isRooted, hasFirst> metric(ofOptimizer);
  const LevelEstimate<isRooted, hasFirst> estimate(ofOptimizer);
  const bool isUsable = estimate.isUsable();
  uint32_t i = 0;
  for (; i + maskElements <= count; i += maskElements) {
    uint64_t reached[gcompLevels - 1] = {};
    for (uint32_t k = 0; k < maskElements; k += 16) {
      row.askAhead(i + k);
      uint32_t masks[gcompLevels - 1];
      bool isSure = false;
      if (isUsable) {
        const auto levels = estimate.at(row, i + k);
        for (uint32_t l = 0; l < gcompLevels - 1; ++l)
          masks[l] = levels.reached[l];
        isSure = levels.unsure == 0;
      }
      if (HWY_UNLIKELY(!isSure))
        exactMasks(metric, row, i + k, masks);
      for (uint32_t l = 0; l < gcompLevels - 1; ++l)
        reached[l] |= uint64_t(masks[l]) << k;
    }
    one[i / maskElements] = reached[0];
    two[i / maskElements] = reached[1];
    three[i / maskElements] = reached[2];
  }
  return i;
}

inline void maskLevels(const GcompMetric &metric, const lossless::MetricRow &row, uint32_t at, uint32_t count,
                       MaskedParts &parts) {
  const uint32_t first = at / maskElements;
  uint32_t i = 0;
  withMetric(metric, row, [&](auto isRooted, auto hasFirst) {
    i = maskWhole<isRooted, hasFirst>(metric, row, count, parts.reached[0] + first, parts.reached[1] + first,
                                      parts.reached[2] + first);
  });
  if (i == count)
    return;
  maskNoLevels(at + i, count - i, parts);
  for (; i < count; ++i) {
    const uint32_t level = lossless::levelOf(metric, row, i);
    for (uint32_t l = 0; l < level; ++l)
      parts.reached[l][(at + i) / maskElements] |= uint64_t(1) << (at + i) % maskElements;
  }
}

/// The elements of a row of 64 that are coded as zeros, and those that have no levels.
struct RowMasks {
  uint64_t zero, isShort;
};

template <cgx_element_type type> HWY_INLINE RowMasks masksOf(const ExponentBytes &cut) {
  const __m512i exponents = cut.exponents.raw;
  const uint64_t noExponent = _mm512_testn_epi8_mask(exponents, exponents);
  if constexpr (type != CGX_F16)
    return {noExponent, 0};
  return {noExponent & _mm512_testn_epi8_mask(cut.rest.raw, _mm512_set1_epi8(0x7f)),
          _mm512_testn_epi8_mask(exponents, _mm512_set1_epi8(char(0xf8)))};
}

/// Calls row(i, bytes of the elements from i on, how many of the 64 exist).
template <bool isF32, typename Row>
HWY_INLINE void forEachMask(const uint8_t *elements, uint32_t count, const Row &row) {
  uint32_t i = 0;
  for (; i + maskElements <= count; i += maskElements)
    row(i, loadExponentBytes<isF32>(elements, i), maskElements);
  if (i < count) {
    constexpr uint64_t elementBytes = isF32 ? 4 : 2;
    uint8_t last[maskElements * elementBytes] = {};
    memcpy(last, elements + i * elementBytes, (count - i) * elementBytes);
    row(i, loadExponentBytes<isF32>(last, 0), count - i);
  }
}

template <cgx_element_type type>
HWY_INLINE bool splitMaskedOf(const uint8_t *elements, uint32_t count, const ExponentCode &code,
                              MaskedParts &parts) {
  const Bytes bytes;
  const __m512i offset = _mm512_set1_epi8(char(zeroSymbols - code.first)),
                first = _mm512_set1_epi8(char(code.first));
  __m512i largest = _mm512_setzero_si512(); // below the first exponent, differences wrap around
  parts.counts = {};
  forEachMask<type == CGX_F32>(elements, count, [&](uint32_t i, const ExponentBytes &cut, uint32_t there) {
    const auto [zero, isShort] = masksOf<type>(cut);
    const __m512i exponents = cut.exponents.raw;
    const uint64_t notZero = ~zero & (~uint64_t(0) >> (maskElements - there));
    largest = _mm512_mask_max_epu8(largest, notZero, largest, _mm512_sub_epi8(exponents, first));
    const ByteVector sign = hn::ShiftRight<7>(cut.rest);
    hn::StoreU(ByteVector{_mm512_mask_mov_epi8(_mm512_add_epi8(exponents, offset), zero, sign.raw)}, bytes,
               parts.symbols + i);
    const uint32_t at = i / maskElements;
    const uint64_t leveled = notZero & ~isShort, one = parts.reached[0][at] & leveled,
                   two = parts.reached[1][at] & leveled, three = parts.reached[2][at] & leveled;
    const uint64_t of[gcompLevels] = {notZero & ~one, one & ~two, two & ~three, three};
    for (uint32_t l = 0; l < gcompLevels; ++l) {
      parts.ofLevel[l][at] = of[l];
      parts.counts.of[l] += uint32_t(std::popcount(of[l]));
    }
  });
  parts.notZero = parts.counts.all();
  alignas(64) uint8_t last[64];
  _mm512_store_si512(last, largest);
  return *std::max_element(last, last + 64) < code.symbols - zeroSymbols;
}

inline bool splitMasked(cgx_element_type type, const uint8_t *elements, uint32_t count,
                        const ExponentCode &code, MaskedParts &parts) {
  parts.elements = elements;
  parts.type = type;
  parts.count = count;
  if (type == CGX_F32)
    return splitMaskedOf<CGX_F32>(elements, count, code, parts);
  if (type == CGX_F16)
    return splitMaskedOf<CGX_F16>(elements, count, code, parts);
  return splitMaskedOf<CGX_BF16>(elements, count, code, parts);
}

/// Rounds the elements of a block that stays uncompressed. Such blocks are rare.
inline void roundMasked(cgx_element_type type, const lossless::LevelShifts &shifts, const uint8_t *elements,
                        uint32_t count, MaskedParts &parts) {
  uint8_t *const levels = parts.symbols; // a block that stays uncompressed needs no symbols
  for (uint32_t i = 0; i < count; ++i) {
    levels[i] = 0;
    for (const auto &reached : parts.reached)
      levels[i] += uint8_t(reached[i / maskElements] >> i % maskElements & 1);
    lossless::storeRounded(type, shifts, levels, elements, i, parts.rounded);
  }
}

/// Writes the levels of elements, two bits each.
inline uint8_t *writeLevels(const MaskedParts &parts, uint8_t *out) {
  uint8_t *const end = out + lossless::levelBytes(parts.notZero);
  uint64_t waiting = 0;
  uint32_t waitingBits = 0; // fewer than 64
  const auto put = [&](uint64_t bits, uint32_t count) {
    waiting |= bits << waitingBits;
    if (waitingBits + count < 64) {
      waitingBits += count;
      return;
    }
    memcpy(out, &waiting, sizeof waiting);
    out += sizeof waiting;
    waiting = waitingBits == 0 ? 0 : bits >> (64 - waitingBits);
    waitingBits = waitingBits + count - 64;
  };
  const auto interleaved = [](uint64_t low, uint64_t high) {
    return _pdep_u64(low, 0x5555555555555555u) | _pdep_u64(high, 0xaaaaaaaaaaaaaaaau);
  };
  for (uint32_t at = 0; at < (parts.count + maskElements - 1) / maskElements; ++at) {
    uint64_t low = parts.ofLevel[1][at] | parts.ofLevel[3][at],
             high = parts.ofLevel[2][at] | parts.ofLevel[3][at];
    const uint64_t notZero = low | high | parts.ofLevel[0][at];
    uint32_t count = maskElements;
    if (HWY_UNLIKELY(notZero != ~uint64_t(0))) {
      low = _pext_u64(low, notZero);
      high = _pext_u64(high, notZero);
      count = uint32_t(std::popcount(notZero));
    }
    put(interleaved(low, high), 2 * std::min(count, 32u));
    if (count > 32)
      put(interleaved(low >> 32, high >> 32), 2 * (count - 32));
  }
  memcpy(out, &waiting, (waitingBits + 7) / 8);
  return end;
}

/// Returns the bits of a level's elements, in order. Loops may read a vector after them.
template <bool isF32> HWY_INLINE const uint32_t *bitsOfLevel(MaskedParts &parts, uint32_t level) {
  const Words words;
  const auto *const given = reinterpret_cast<const uint32_t *>(parts.elements);
  if (isF32 && parts.counts.of[level] == lossless::blockElements)
    return given;
  const uint64_t *const masks = parts.ofLevel[level];
  uint32_t *out = parts.room;
  // A few elements are taken one by one.
  if (parts.counts.of[level] <= parts.count / 32) {
    for (uint32_t at = 0; at < (parts.count + maskElements - 1) / maskElements; ++at)
      for (uint64_t left = masks[at]; left != 0; left &= left - 1)
        *out++ = lossless::bitsAt(isF32 ? CGX_F32 : CGX_BF16, parts.elements,
                                  at * maskElements + uint32_t(std::countr_zero(left)));
    return parts.room;
  }
  for (uint32_t i = 0; i < parts.count; i += 16) {
    const __mmask16 mask = maskAt(masks, i);
    __m512i bits;
    if constexpr (isF32)
      bits = _mm512_maskz_loadu_epi32(mask, given + i);
    else
      bits = _mm512_slli_epi32(
          _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, parts.elements + 2 * uint64_t(i))), 16);
    hn::StoreU(WordVector{_mm512_maskz_compress_epi32(mask, bits)}, words, out);
    out += std::popcount(uint32_t(mask));
  }
  return parts.room;
}

/// Rounds sign and mantissa of elements of a level as gcompRounded() does, to the bits that are sent. Where
/// rounding would carry beyond the mantissa, its highest bits are all ones and stay so.
struct LevelPacker {
  explicit LevelPacker(uint32_t shift)
      : shift(shift), half((1u << shift) >> 1), mantissa(hn::Set(Words(), 0x7fffff)),
        halves(hn::Set(Words(), half)), sign(hn::Set(Words(), 0x800000)) {}

  HWY_INLINE WordVector at(const uint32_t *bits) const {
    const WordVector x = hn::LoadU(Words(), bits);
    const WordVector rounded = hn::Min(hn::Add(hn::And(x, mantissa), halves), mantissa);
    return hn::ShiftRightSame(hn::Or(hn::And(hn::ShiftRight<8>(x), sign), rounded), int(shift));
  }

  HWY_INLINE uint32_t one(uint32_t bits) const {
    const uint32_t rounded = std::min((bits & 0x7fffff) + half, 0x7fffffu);
    return (((bits >> 8) & 0x800000) | rounded) >> shift;
  }

  uint32_t shift, half;
  WordVector mantissa, halves, sign;
};

/// The tables that make a sequence of eight pairs of mantissas, for each number of bits above 8. Words have
/// 16 bits. A pair is shifted by less than a word, and its words move to where its first bit belongs. No two
/// even pairs have bits in one word, nor have two odd pairs.
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

/// Packs up to eight bits each. One instruction packs eight bytes.
HWY_INLINE uint32_t packNarrow(const uint32_t *elements, uint32_t count, uint32_t shift, uint8_t *out) {
  const LevelPacker packer(shift);
  const uint32_t bits = 24 - shift;
  const uint64_t bytes = (uint64_t(count) * bits + 7) / 8, mask = 0x0101010101010101u * ((1u << bits) - 1);
  uint32_t i = 0;
  for (uint64_t at = 0; i + 16 <= count && at + bits + 8 <= bytes; i += 16, at += 2 * bits) {
    uint64_t eights[2];
    storeBytes(packer.at(elements + i), reinterpret_cast<uint8_t *>(eights));
    const uint64_t low = _pext_u64(eights[0], mask), high = _pext_u64(eights[1], mask);
    memcpy(out + at, &low, sizeof low);
    memcpy(out + at + bits, &high, sizeof high);
  }
  return i;
}

HWY_INLINE uint32_t packWide(const uint32_t *elements, uint32_t count, uint32_t shift, uint8_t *out) {
  const hn::Repartition<uint64_t, Words> wide;
  const LevelPacker packer(shift);
  const uint32_t bits = 24 - shift;
  const uint64_t bytes = (uint64_t(count) * bits + 7) / 8;
  const PairsToSequence &table = pairsToSequence[bits];
  const auto shifts = hn::LoadU(wide, table.shift), low = hn::Set(wide, 0xffffffffu);
  const HalfVector even = hn::LoadU(Halves(), table.even), odd = hn::LoadU(Halves(), table.odd);
  uint32_t i = 0;
  for (uint64_t at = 0; i + 16 <= count && at + 64 <= bytes; i += 16, at += 2 * bits) {
    const auto two = hn::BitCast(wide, packer.at(elements + i));
    const auto pairs =
        hn::Shl(hn::Or(hn::And(two, low), hn::ShiftLeftSame(hn::ShiftRight<32>(two), int(bits))), shifts);
    const __m512i sequence =
        _mm512_or_si512(_mm512_maskz_permutexvar_epi16(table.hasEven, even.raw, pairs.raw),
                        _mm512_maskz_permutexvar_epi16(table.hasOdd, odd.raw, pairs.raw));
    _mm512_storeu_si512(out + at, sequence);
  }
  return i;
}

/// Packs mantissas. Sixteen of them fill whole bytes. Whole vectors are stored as long as they end before the
/// sequence does.
HWY_INLINE void packElements(const uint32_t *elements, uint32_t count, uint32_t shift, uint8_t *out) {
  uint32_t i = shift >= 16 ? packNarrow(elements, count, shift, out) : packWide(elements, count, shift, out);
  lossless::MantissaWriter writer(out + uint64_t(i) * (24 - shift) / 8);
  const LevelPacker packer(shift);
  for (; i < count; ++i)
    writer.put(packer.one(elements[i]), 24 - shift);
  writer.finish();
}

inline uint8_t *writeMasked(const lossless::LevelShifts &shifts, MaskedParts &parts, uint8_t *out) {
  out = writeLevels(parts, out);
  for (uint32_t level = 0; level < gcompLevels; ++level) {
    const uint32_t count = parts.counts.of[level];
    if (count == 0)
      continue;
    const uint32_t *const bits =
        parts.type == CGX_F32 ? bitsOfLevel<true>(parts, level) : bitsOfLevel<false>(parts, level);
    packElements(bits, count, shifts[level], out);
    out += parts.counts.bytes(shifts, level);
  }
  return out;
}

#endif

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
