//===-- Exponents-inl.h - exponents.h in vectors ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_EXPONENTS) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_EXPONENTS
#undef CGX_KERNELS_CPU_SIMD_EXPONENTS
#else
#define CGX_KERNELS_CPU_SIMD_EXPONENTS
#endif

#include "../GcompBody.h"
#include "Rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

using NarrowBytes = hn::Rebind<uint8_t, Words>;

/// Loads the bits of `lanes` elements, in the upper half if they are 16.
template <bool isF32> HWY_INLINE WordVector loadBits(const uint8_t *elements, uint64_t i) {
  const Words words;
  if constexpr (isF32)
    return hn::LoadU(words, reinterpret_cast<const uint32_t *>(elements) + i);
  else
    return hn::ShiftLeft<16>(
        hn::PromoteTo(words, hn::LoadU(NarrowHalves(), reinterpret_cast<const uint16_t *>(elements) + i)));
}

template <bool isF32> HWY_INLINE void storeBits(WordVector bits, uint8_t *elements, uint64_t i) {
  if constexpr (isF32)
    hn::StoreU(bits, Words(), reinterpret_cast<uint32_t *>(elements) + i);
  else
    hn::StoreU(hn::TruncateTo(NarrowHalves(), hn::ShiftRight<16>(bits)), NarrowHalves(),
               reinterpret_cast<uint16_t *>(elements) + i);
}

/// Stores the low bytes of all lanes.
HWY_INLINE void storeBytes(WordVector x, uint8_t *out) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // This is one instruction. Highway 1.0 takes two, and GCC makes their tables anew for each.
  _mm_storeu_si128(reinterpret_cast<__m128i *>(out), _mm512_cvtepi32_epi8(x.raw));
#else
  hn::StoreU(hn::TruncateTo(NarrowBytes(), x), NarrowBytes(), out);
#endif
}

/// Counts exponents as the reference does. The exponents of a run mostly lie close together; then each
/// exponent in their range is counted by comparing the whole run with it. Otherwise they are counted one by
/// one, in several counters in turn, because neighbours are often equal and an increment would wait for the
/// one before.
class ExponentCounter {
public:
  ExponentCounter(cgx_element_type type, bool isPruned) : type(type), isPruned(isPruned) {}

  /// Adds up to `exponentRun` elements.
  void add(const uint8_t *elements, uint32_t count) {
    if (type == CGX_F32)
      isPruned ? addOf<true, true>(elements, count) : addOf<true, false>(elements, count);
    else
      isPruned ? addOf<false, true>(elements, count) : addOf<false, false>(elements, count);
  }

  ExponentCounts counts() const {
    ExponentCounts counted = {};
    for (uint32_t exponent = 0; exponent < 256; ++exponent)
      for (const auto &turn : inTurn)
        counted.exponents[exponent] += turn[exponent];
    std::copy(zeros, zeros + zeroSymbols, counted.zeros);
    return counted;
  }

private:
  template <bool isF32, bool isPrunedType> HWY_INLINE void addOf(const uint8_t *elements, uint32_t count) {
    const Words words;
    const WordVector one = hn::Set(words, 1);
    WordVector allZeros = hn::Zero(words), negativeZeros = hn::Zero(words);
    WordVector largest = hn::Zero(words), smallestLessOne = hn::Set(words, 0xff);
    uint8_t exponents[exponentRun];
    const auto put = [&](WordVector bits, uint32_t i) {
      const WordVector exponent = hn::And(hn::ShiftRight<23>(bits), hn::Set(words, 0xff));
      const WordMask isZero = hn::Eq(isPrunedType ? exponent : hn::Add(bits, bits), hn::Zero(words));
      storeBytes(exponent, exponents + i);
      largest = hn::Max(largest, exponent);
      smallestLessOne = hn::Min(smallestLessOne, hn::Sub(exponent, one)); // 0 becomes the largest
      allZeros = hn::Add(allZeros, hn::IfThenElseZero(isZero, one));
      negativeZeros = hn::Add(negativeZeros, hn::IfThenElseZero(isZero, hn::ShiftRight<31>(bits)));
    };
    uint32_t i = 0;
    for (; i + lanes <= count; i += lanes)
      put(loadBits<isF32>(elements, i), i);
    const auto sumOf = [&](WordVector of) { return hn::GetLane(hn::SumOfLanes(words, of)); };
    zeros[1] += sumOf(negativeZeros);
    zeros[0] += sumOf(hn::Sub(allZeros, negativeZeros));
    for (; i < count; ++i) {
      const uint32_t bits = lossless::bitsAt(isF32 ? CGX_F32 : CGX_BF16, elements, i);
      exponents[i] = uint8_t(exponentOf(bits));
      zeros[bits >> 31] += uint32_t(isPrunedType ? exponents[i] == 0 : isZeroBits(bits));
    }
    const uint32_t first = hn::GetLane(hn::MinOfLanes(words, smallestLessOne)) + 1,
                   last = hn::GetLane(hn::MaxOfLanes(words, largest));
    if (count == exponentRun && countClose(exponents, first, last))
      return;
    for (i = 0; i + turns <= count; i += turns)
      for (uint32_t turn = 0; turn < turns; ++turn)
        ++inTurn[turn][exponents[i + turn]];
    for (; i < count; ++i)
      ++inTurn[0][exponents[i]];
  }

  /// Counts a whole run of exponents that are 0 or from `first` to `last`. Returns false if these lie too far
  /// apart.
  HWY_INLINE bool countClose(const uint8_t *exponents, uint32_t first, uint32_t last) {
    constexpr uint32_t mostDistance = 32;
    if (first + mostDistance < last)
      return false;
    inTurn[0][0] += countEqual(exponents, 0);
    for (uint32_t exponent = first; exponent <= last; ++exponent)
      inTurn[0][exponent] += countEqual(exponents, exponent);
    return true;
  }

  /// Returns how many exponents of a run equal `exponent`.
  static HWY_INLINE uint32_t countEqual(const uint8_t *exponents, uint32_t exponent) {
    const hn::ScalableTag<uint8_t> bytes;
    const hn::RepartitionToWide<hn::RepartitionToWide<hn::RepartitionToWide<decltype(bytes)>>> wide;
    static_assert(exponentRun / hn::MaxLanes(bytes) < 256);
    const auto wanted = hn::Set(bytes, uint8_t(exponent));
    auto number = hn::Zero(bytes);
    for (uint32_t i = 0; i < exponentRun; i += hn::Lanes(bytes)) {
      const auto isEqual = hn::Eq(hn::LoadU(bytes, exponents + i), wanted);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
      number.raw = _mm512_mask_add_epi8(number.raw, isEqual.raw, number.raw, _mm512_set1_epi8(1));
#else
      number = hn::Sub(number, hn::VecFromMask(bytes, isEqual));
#endif
    }
    return uint32_t(hn::GetLane(hn::SumOfLanes(wide, hn::SumsOf8(number))));
  }

  static constexpr uint32_t turns = 8;
  cgx_element_type type;
  bool isPruned;
  uint32_t zeros[zeroSymbols] = {};
  std::array<std::array<uint32_t, 256>, turns> inTurn = {};
};

/// Converts f32 values to elements of 16 bits.
template <Sink sink> HWY_INLINE void narrowTo(const uint8_t *values, uint32_t count, uint8_t *elements) {
  auto *out = reinterpret_cast<uint16_t *>(elements);
  uint32_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const FloatVector x = loadElements<Source::f32>(values, i);
    if (sink == Sink::bf16 && HWY_UNLIKELY(!hn::AllFalse(Floats(), hn::IsNaN(x))))
      for (size_t k = i; k < i + lanes; ++k)
        emitOne<sink>(loadF32(values, k), out + k);
    else
      emit<sink>(x, out + i);
  }
  for (; i < count; ++i)
    emitOne<sink>(loadF32(values, i), out + i);
}

#if !(HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86)
/// Tables by the mask of eight lanes: for each lane how many lanes of the mask are before it, and the lanes
/// of the mask in order.
struct KeptLanes {
  uint8_t before[8], first[8];
};
inline constexpr auto keptLanes = [] {
  std::array<KeptLanes, 256> table = {};
  for (uint32_t mask = 0; mask < table.size(); ++mask)
    for (uint32_t lane = 0, count = 0; lane < 8; ++lane) {
      table[mask].before[lane] = uint8_t(count);
      if ((mask >> lane) & 1)
        table[mask].first[count++] = uint8_t(lane);
    }
  return table;
}();

HWY_INLINE const KeptLanes &keptLanesOf(WordMask mask) {
  return keptLanes[bitsOfMask(hn::RebindMask(Floats(), mask))];
}

HWY_INLINE WordVector lookUpLanes(WordVector x, const uint8_t *indices) {
  return hn::TableLookupLanes(
      x, hn::IndicesFromVec(Words(), hn::PromoteTo(Words(), hn::LoadU(NarrowBytes(), indices))));
}
#endif

/// Moves the lanes of `x` that the mask has to the front, in order. The other lanes are unspecified.
HWY_INLINE WordVector compress(WordVector x, WordMask mask) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return hn::Compress(x, mask);
#else // Highway 1.0 has one, for which GCC copies its table at each call
  return lookUpLanes(x, keptLanesOf(mask).first);
#endif
}

/// Moves the first lanes of `x`, in order, to the lanes that the mask has. The other lanes are unspecified.
HWY_INLINE WordVector expand(WordVector x, WordMask mask) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return WordVector{_mm512_maskz_expand_epi32(mask.raw, x.raw)};
#else
  return lookUpLanes(x, keptLanesOf(mask).before);
#endif
}

using Bytes = hn::Repartition<uint8_t, Words>;
using ByteVector = hn::Vec<Bytes>;

/// Returns the low or the high halves of all lanes of two vectors.
template <bool areHigh> HWY_INLINE HalfVector halvesOf(WordVector first, WordVector second) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const WordVector indices =
      hn::Add(hn::ShiftLeft<2>(hn::Iota(Words(), 0)), hn::Add(hn::ShiftLeft<18>(hn::Iota(Words(), 0)),
                                                              hn::Set(Words(), areHigh ? 0x30001 : 0x20000)));
  return HalfVector{_mm512_permutex2var_epi16(first.raw, indices.raw, second.raw)};
#else
  const Halves halves;
  const HalfVector low = hn::BitCast(halves, first), high = hn::BitCast(halves, second);
  return areHigh ? hn::ConcatOdd(halves, high, low) : hn::ConcatEven(halves, high, low);
#endif
}

/// Returns the low or the high bytes of all lanes of two vectors.
template <bool areHigh> HWY_INLINE ByteVector bytesOf(HalfVector first, HalfVector second) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const auto byteOf = [](HalfVector x) {
    return areHigh ? hn::ShiftRight<8>(x) : hn::And(x, hn::Set(Halves(), 0xff));
  };
  return ByteVector{_mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                             _mm512_packus_epi16(byteOf(first).raw, byteOf(second).raw))};
#else
  const Bytes bytes;
  const ByteVector low = hn::BitCast(bytes, first), high = hn::BitCast(bytes, second);
  return areHigh ? hn::ConcatOdd(bytes, high, low) : hn::ConcatEven(bytes, high, low);
#endif
}

/// Selects the bits of `yes` where the mask has ones, and those of `no` elsewhere.
HWY_INLINE ByteVector selectBits(ByteVector mask, ByteVector yes, ByteVector no) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return ByteVector{_mm512_ternarylogic_epi64(mask.raw, yes.raw, no.raw, 0xca)};
#else
  return hn::Or(hn::And(mask, yes), hn::AndNot(mask, no));
#endif
}

/// The number of elements in an ExponentBytes: those of four vectors as bytes, in order.
constexpr uint32_t elementsOfBytes = 4 * lanes;
struct ExponentBytes {
  ByteVector exponents, rest;
  HalfVector low[2]; ///< the lowest 16 bits of f32
};

template <bool isF32> HWY_INLINE ExponentBytes loadExponentBytes(const uint8_t *elements, uint32_t i) {
  const Bytes bytes;
  ExponentBytes result;
  HalfVector high[2];
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t at = i + 2 * lanes * half;
    if constexpr (isF32) {
      const WordVector first = loadBits<true>(elements, at), second = loadBits<true>(elements, at + lanes);
      result.low[half] = halvesOf</*areHigh=*/false>(first, second);
      high[half] = halvesOf</*areHigh=*/true>(first, second);
    } else {
      high[half] = hn::LoadU(Halves(), reinterpret_cast<const uint16_t *>(elements) + at);
    }
  }
  const ByteVector upper = bytesOf</*areHigh=*/true>(high[0], high[1]),
                   lower = bytesOf</*areHigh=*/false>(high[0], high[1]);
  result.exponents = hn::Or(hn::Add(upper, upper), hn::ShiftRight<7>(lower));
  result.rest = selectBits(hn::Set(bytes, 0x80), upper, lower);
  return result;
}

/// Splits a block as the reference does. Past the last whole vector it reads a copy that is filled up with
/// zeros. If no exponent is 0 there are no zeros either, and many elements are split at once.
template <bool isF32>
HWY_INLINE bool splitBlock(const uint8_t *elements, uint32_t count, const ExponentCode &code,
                           lossless::PlainParts &parts) {
  const Words words;
  const WordVector zero = hn::Zero(words), zeros = hn::Set(words, zeroSymbols),
                   offset = hn::Set(words, zeroSymbols - code.first);
  WordVector largest = zero;
  uint32_t notZero = 0;
  const auto put = [&](WordVector bits, uint32_t i) {
    const WordMask isZero = hn::Eq(hn::Add(bits, bits), zero);
    // If an exponent is below the first one, the difference wraps around to above all symbols.
    const WordVector exponent = hn::And(hn::ShiftRight<23>(bits), hn::Set(words, 0xff));
    const WordVector coded = hn::Add(exponent, offset);
    const WordVector symbol = hn::IfThenElse(isZero, hn::ShiftRight<31>(bits), coded);
    largest = hn::Max(largest, hn::IfThenZeroElse(isZero, hn::Sub(coded, zeros)));
    storeBytes(symbol, parts.symbols + i);
    const WordVector kept = compress(bits, hn::Not(isZero));
    if constexpr (isF32)
      hn::StoreU(hn::TruncateTo(NarrowHalves(), kept), NarrowHalves(),
                 reinterpret_cast<uint16_t *>(parts.low) + notZero);
    const WordVector rest = hn::Or(hn::And(hn::ShiftRight<24>(kept), hn::Set(words, 0x80)),
                                   hn::And(hn::ShiftRight<16>(kept), hn::Set(words, 0x7f)));
    storeBytes(rest, parts.rest + notZero);
    notZero += uint32_t(lanes - hn::CountTrue(words, isZero));
  };
  const Bytes bytes;
  const ByteVector first = hn::Set(bytes, uint8_t(code.first)),
                   offsetOfBytes = hn::Set(bytes, uint8_t(zeroSymbols - code.first));
  ByteVector largestOfBytes = hn::Zero(bytes); // below the first exponent, differences wrap around
  uint32_t i = 0;
  for (; i + elementsOfBytes <= count; i += elementsOfBytes) {
    const ExponentBytes cut = loadExponentBytes<isF32>(elements, i);
    if (HWY_LIKELY(hn::AllFalse(bytes, hn::Eq(cut.exponents, hn::Zero(bytes))))) {
      largestOfBytes = hn::Max(largestOfBytes, hn::Sub(cut.exponents, first));
      hn::StoreU(hn::Add(cut.exponents, offsetOfBytes), bytes, parts.symbols + i);
      if constexpr (isF32)
        for (uint32_t half = 0; half < 2; ++half)
          hn::StoreU(cut.low[half], Halves(),
                     reinterpret_cast<uint16_t *>(parts.low) + notZero + 2 * lanes * half);
      hn::StoreU(cut.rest, bytes, parts.rest + notZero);
      notZero += elementsOfBytes;
    } else {
      for (uint32_t k = 0; k < elementsOfBytes; k += lanes)
        put(loadBits<isF32>(elements, i + k), i + k);
    }
  }
  for (; i + lanes <= count; i += lanes)
    put(loadBits<isF32>(elements, i), i);
  if (i < count) {
    constexpr uint64_t elementBytes = isF32 ? 4 : 2;
    uint8_t last[lanes * elementBytes] = {};
    memcpy(last, elements + i * elementBytes, (count - i) * elementBytes);
    put(loadBits<isF32>(last, 0), i);
  }
  parts.notZero = notZero;
  for (uint32_t shift = 0; shift < 32; shift += 8)
    largest = hn::Max(largest, hn::And(hn::ShiftRightSame(hn::BitCast(words, largestOfBytes), int(shift)),
                                       hn::Set(words, 0xff)));
  return hn::GetLane(hn::MaxOfLanes(words, largest)) < code.symbols - zeroSymbols;
}

/// Returns how many symbols of a block are not those of the zeros.
HWY_INLINE uint32_t countNotZero(const lossless::Block &block, const lossless::Symbols &symbols) {
  const hn::ScalableTag<uint8_t> bytes;
  uint32_t notZero = 0;
  for (uint32_t stream = 0; stream < lossless::streamCount(block.elements); ++stream) {
    const uint8_t *of = symbols.of[stream];
    uint32_t i = 0, count = block.inStream(stream);
    for (; i + hn::Lanes(bytes) <= count; i += hn::Lanes(bytes)) // the symbols of zeros are 0 and 1
      notZero += uint32_t(hn::CountTrue(
          bytes, hn::Ne(hn::LoadU(bytes, of + i), hn::And(hn::LoadU(bytes, of + i), hn::Set(bytes, 1)))));
    for (; i < count; ++i)
      notZero += uint32_t(of[i] >= zeroSymbols);
  }
  return notZero;
}

/// Loads the 24 bits of mantissas from `i` on, each at its place in an element.
template <bool isF32> HWY_INLINE WordVector loadMantissas(const lossless::PlainOpened &opened, uint64_t i) {
  const Words words;
  const WordVector rest = hn::PromoteTo(words, hn::LoadU(NarrowBytes(), opened.rest + i));
  WordVector bits = hn::Or(hn::ShiftLeft<24>(hn::And(rest, hn::Set(words, 0x80))),
                           hn::ShiftLeft<16>(hn::And(rest, hn::Set(words, 0x7f))));
  if constexpr (isF32)
    bits = hn::Or(bits, hn::PromoteTo(words, hn::LoadU(NarrowHalves(),
                                                       reinterpret_cast<const uint16_t *>(opened.low) + i)));
  return bits;
}
template <bool isF32>
HWY_INLINE WordVector loadMantissas(const lossless::LeveledMantissaWords &opened, uint64_t i) {
  const Words words;
  const WordVector mantissas = hn::LoadU(words, opened.mantissas + i);
  return hn::Or(hn::ShiftLeft<8>(hn::And(mantissas, hn::Set(words, 0x800000))),
                hn::And(mantissas, hn::Set(words, 0x7fffff)));
}

/// The way elements are stored: 16 bits, or 32 bits through the cache or past it.
enum class StoreBits { halves, words, streamed };

/// Puts the elements of a block together as the reference does. It reads up to a vector after the parts.
template <StoreBits store, typename Opened>
HWY_INLINE void mergeBlock(const ExponentCode &code, const lossless::Block &block, const Opened &opened,
                           const lossless::Symbols &symbols, lossless::Ahead ahead, uint8_t *elements) {
  constexpr bool isF32 = store != StoreBits::halves;
  const Words words;
  const WordVector lastZero = hn::Set(words, zeroSymbols - 1),
                   offset = hn::Set(words, code.first - zeroSymbols);
  uint64_t notZero = 0;
  const auto merged = [&](const uint8_t *from) {
    const WordVector symbol = hn::PromoteTo(words, hn::LoadU(NarrowBytes(), from));
    const WordMask isKept = hn::Gt(symbol, lastZero);
    const WordVector bits = loadMantissas<isF32>(opened, notZero);
    notZero += hn::CountTrue(words, isKept);
    const WordVector exponents = hn::ShiftLeft<23>(hn::Add(symbol, offset));
    return hn::IfThenElse(isKept, hn::Or(expand(bits, isKept), exponents), hn::ShiftLeft<31>(symbol));
  };
  for (uint32_t stream = 0; stream < lossless::streamCount(block.elements); ++stream) {
    const uint32_t begin = stream * lossless::streamElements, count = block.inStream(stream);
    const uint8_t *from = symbols.of[stream];
    uint32_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      if (i % lossless::Ahead::rowElements == 0)
        ahead.ask();
      if constexpr (store == StoreBits::streamed)
        hn::Stream(merged(from + i), words, reinterpret_cast<uint32_t *>(elements) + begin + i);
      else
        storeBits<isF32>(merged(from + i), elements, begin + i);
    }
    if (i < count) { // the last elements of the block
      constexpr uint64_t elementBytes = isF32 ? 4 : 2;
      uint8_t last[lanes * elementBytes];
      storeBits<isF32>(merged(from + i), last, 0);
      memcpy(elements + (begin + i) * elementBytes, last, (count - i) * elementBytes);
    }
  }
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
