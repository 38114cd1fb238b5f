//===-- Cast-inl.h - The cast codec in vectors ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_CAST) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_CAST
#undef CGX_KERNELS_CPU_SIMD_CAST
#else
#define CGX_KERNELS_CPU_SIMD_CAST
#endif

#include "Natural-inl.h"
#include "Rows-inl.h"
#include "cgx/arithmetic/cast_sections.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// Computes miniCode() in every lane. It adds to each magnitude a number whose last place is that of the
/// format at this exponent, or of its subnormal numbers. Unless `clamped`, no magnitude may round to above
/// the largest.
template <const MiniFormat &format, bool clamped> HWY_INLINE WordVector miniCodes(FloatVector y) {
  const Floats floats;
  const Words words;
  constexpr int shift = int(23 - format.mantissaBits);
  constexpr uint32_t lowestExponent = (128u - format.bias) << 23;
  FloatVector magnitude = hn::Abs(y);
  if constexpr (clamped)
    magnitude = hn::Min(magnitude, hn::Set(floats, format.largest));
  const WordVector exponent = hn::Max(hn::And(hn::BitCast(words, magnitude), hn::Set(words, 0x7f800000u)),
                                      hn::Set(words, lowestExponent));
  const WordVector magic = hn::Add(exponent, hn::Set(words, uint32_t(shift) << 23));
  const WordVector sum = hn::BitCast(words, hn::Add(magnitude, hn::BitCast(floats, magic)));
  // The last places count units of the mantissa; the exponents are added above them.
  const WordVector places = hn::Sub(sum, magic);
  const WordVector code =
      hn::Add(places, hn::ShiftRight<shift>(hn::Sub(exponent, hn::Set(words, lowestExponent))));
  constexpr uint32_t signBit = 1u << (format.codeBits - 1);
  return hn::OrAnd(code, hn::ShiftRight<32 - int(format.codeBits)>(hn::BitCast(words, y)),
                   hn::Set(words, signBit));
}

/// Computes castValue() in every lane, for a scale that is finite.
template <const MiniFormat &format>
HWY_INLINE FloatVector castValues(WordVector codes, FloatVector scale, FloatVector limit) {
  const Floats floats;
  const Words words;
  const hn::RebindToSigned<Floats> integers;
  constexpr uint32_t signBit = 1u << (format.codeBits - 1);
  const WordVector magnitude = hn::And(codes, hn::Set(words, signBit - 1));
  const WordVector sign = hn::ShiftLeft<32 - int(format.codeBits)>(hn::And(codes, hn::Set(words, signBit)));
  const FloatVector subnormal =
      hn::Mul(hn::ConvertTo(floats, hn::BitCast(integers, magnitude)), hn::Set(floats, format.subnormalUnit));
  const FloatVector normal =
      hn::BitCast(floats, hn::Add(hn::ShiftLeft<23 - int(format.mantissaBits)>(magnitude),
                                  hn::Set(words, (127u - format.bias) << 23)));
  const WordMask isSubnormal = hn::Lt(magnitude, hn::Set(words, 1u << format.mantissaBits));
  const FloatVector number = hn::IfThenElse(hn::RebindMask(floats, isSubnormal), subnormal, normal);
  const FloatVector value = hn::Min(hn::Mul(number, hn::Abs(scale)), limit);
  const WordVector scaleSign = hn::And(hn::BitCast(words, scale), hn::Set(words, 0x80000000u));
  const FloatVector result = hn::BitCast(floats, hn::Or(hn::BitCast(words, value), hn::Xor(sign, scaleSign)));
  if constexpr (format.largestCode == signBit - 1)
    return result;
  const WordMask isNan = hn::Gt(magnitude, hn::Set(words, format.largestCode));
  return hn::IfThenElse(hn::RebindMask(floats, isNan), hn::Set(floats, quietNan()), result);
}

template <const MiniFormat &format, bool clamped, Source source>
void encodeMini(const EncodeArguments &arguments) {
  const Floats floats;
  const cgx_codec &codec = *arguments.codec;
  uint8_t *codes = arguments.body + castCodesOffset(codec, arguments.elements);
  constexpr bool isNibble = format.codeBits == 4;
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const uint32_t largest = largestMagnitude<source>(arguments.input, begin, end);
    const float factor = storeCastScale(arguments.body, codec, bucket, largest);
    if (!isFinite(factor)) {
      memset(codes + (isNibble ? begin / 2 : begin), 0, isNibble ? (end - begin + 1) / 2 : end - begin);
      return;
    }
    const FloatVector factors = hn::Set(floats, factor);
    uint64_t i = begin;
    for (; i + 32 <= end; i += 32) {
      prefetchRow<source>(arguments.input, i);
      for (size_t c = 0; c < rowLanes; c += lanes) {
        const WordVector low =
            miniCodes<format, clamped>(hn::Mul(loadElements<source>(arguments.input, i + c), factors));
        const WordVector high =
            miniCodes<format, clamped>(hn::Mul(loadElements<source>(arguments.input, i + 16 + c), factors));
        if constexpr (isNibble) {
          const WordVector both = hn::Or(low, hn::ShiftLeft<4>(high));
          hn::StoreU(hn::TruncateTo(Bytes(), both), Bytes(), codes + i / 2 + c);
        } else {
          hn::StoreU(hn::TruncateTo(Bytes(), low), Bytes(), codes + i + c);
          hn::StoreU(hn::TruncateTo(Bytes(), high), Bytes(), codes + i + 16 + c);
        }
      }
    }
    for (; i < end; ++i)
      storeCode(format, codes, i, arguments.elements,
                miniCode(format, loadElement(source, arguments.input, i) * factor));
  });
}

template <const MiniFormat &format, Sink sink>
void decodeMini(const DecodeArguments &arguments, float limit, OutputOf<sink> *output) {
  const Floats floats;
  const Words words;
  const cgx_codec &codec = *arguments.codec;
  const uint8_t *codes = arguments.body + castCodesOffset(codec, arguments.elements);
  const FloatVector limits = hn::Set(floats, limit);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const float scale = loadCastScale(arguments.body, codec, bucket);
    const FloatVector scales = hn::Set(floats, scale);
    uint64_t i = begin;
    for (; isFinite(scale) && i + 32 <= end; i += 32)
      for (size_t c = 0; c < rowLanes; c += lanes) {
        WordVector low, high;
        if constexpr (format.codeBits == 4) {
          const WordVector both = hn::PromoteTo(words, hn::LoadU(Bytes(), codes + i / 2 + c));
          low = hn::And(both, hn::Set(words, 0xf));
          high = hn::ShiftRight<4>(both);
        } else {
          low = hn::PromoteTo(words, hn::LoadU(Bytes(), codes + i + c));
          high = hn::PromoteTo(words, hn::LoadU(Bytes(), codes + i + 16 + c));
        }
        emit<sink>(castValues<format>(low, scales, limits), output + i + c);
        emit<sink>(castValues<format>(high, scales, limits), output + i + 16 + c);
      }
    for (; i < end; ++i)
      emitOne<sink>(castValue(format, scale, loadCode(format, codes, i, arguments.elements), limit),
                    output + i);
  });
}

/// Encodes nvfp4. A row of 32 elements is two blocks, and element j of the first one shares a byte with
/// element j of the second.
template <Source source> void encodeNvfp4(const EncodeArguments &arguments) {
  constexpr uint64_t block = CGX_NVFP4_BLOCK_ELEMENTS;
  const Floats floats;
  const cgx_codec &codec = *arguments.codec;
  uint8_t *codes = arguments.body + castCodesOffset(codec, arguments.elements);
  uint32_t top = 0;
  forEachBucket(block, arguments.elements, [&](uint64_t, uint64_t begin, uint64_t end) {
    const uint32_t largest = largestMagnitude<source>(arguments.input, begin, end);
    top = largest < infinityBits && largest > top ? largest : top;
  });
  storeScaleValue(arguments.body, CGX_SCALE_F32, 0, nvfp4Scale(top));
  // A block whose factor is not finite gets codes 0.
  const auto factorOf = [&](uint64_t begin, uint64_t end) {
    return storeCastScale(arguments.body, codec, begin / block,
                          largestMagnitude<source>(arguments.input, begin, end));
  };
  const auto codesOf = [&](uint64_t i, float factor) {
    return isFinite(factor) ? miniCodes<e2m1, /*clamped=*/true>(
                                  hn::Mul(loadElements<source>(arguments.input, i), hn::Set(floats, factor)))
                            : hn::Zero(Words());
  };
  uint64_t i = 0;
  for (; i + 2 * block <= arguments.elements; i += 2 * block) {
    const float first = factorOf(i, i + block), second = factorOf(i + block, i + 2 * block);
    for (size_t c = 0; c < rowLanes; c += lanes) {
      const WordVector low = codesOf(i + c, first), high = codesOf(i + block + c, second);
      hn::StoreU(hn::TruncateTo(Bytes(), hn::Or(low, hn::ShiftLeft<4>(high))), Bytes(), codes + i / 2 + c);
    }
  }
  for (; i < arguments.elements; i += block) {
    const uint64_t end = i + block < arguments.elements ? i + block : arguments.elements;
    const float factor = factorOf(i, end);
    for (uint64_t k = i; k < end; ++k)
      storeCode(e2m1, codes, k, arguments.elements,
                isFinite(factor) ? miniCode(e2m1, loadElement(source, arguments.input, k) * factor) : 0);
  }
}

template <Sink sink> void decodeNvfp4(const DecodeArguments &arguments, float limit, OutputOf<sink> *output) {
  constexpr uint64_t block = CGX_NVFP4_BLOCK_ELEMENTS;
  const Floats floats;
  const Words words;
  const cgx_codec &codec = *arguments.codec;
  const uint8_t *codes = arguments.body + castCodesOffset(codec, arguments.elements);
  const FloatVector limits = hn::Set(floats, limit);
  const auto one = [&](uint64_t i) {
    emitOne<sink>(castValue(e2m1, loadCastScale(arguments.body, codec, i / block),
                            loadCode(e2m1, codes, i, arguments.elements), limit),
                  output + i);
  };
  uint64_t i = 0;
  for (; i + 2 * block <= arguments.elements; i += 2 * block) {
    const float first = loadCastScale(arguments.body, codec, i / block);
    const float second = loadCastScale(arguments.body, codec, i / block + 1);
    if (!isFinite(first) || !isFinite(second)) {
      for (uint64_t k = i; k < i + 2 * block; ++k)
        one(k);
      continue;
    }
    for (size_t c = 0; c < rowLanes; c += lanes) {
      const WordVector both = hn::PromoteTo(words, hn::LoadU(Bytes(), codes + i / 2 + c));
      const WordVector low = hn::And(both, hn::Set(words, 0xf)), high = hn::ShiftRight<4>(both);
      emit<sink>(castValues<e2m1>(low, hn::Set(floats, first), limits), output + i + c);
      emit<sink>(castValues<e2m1>(high, hn::Set(floats, second), limits), output + i + block + c);
    }
  }
  for (; i < arguments.elements; ++i)
    one(i);
}

/// Encodes to bf16 or f16, as decodeHalves() decodes it. `wide` is the representation in the payload.
template <Source wide, Source source> void encodeHalves(const EncodeArguments &arguments) {
  constexpr Sink sink = wide == Source::bf16 ? Sink::bf16 : Sink::f16;
  uint16_t *output = reinterpret_cast<uint16_t *>(arguments.body);
  uint64_t i = 0;
  for (; i + lanes <= arguments.elements; i += lanes) {
    const FloatVector x = loadElements<source>(arguments.input, i);
    if (wide == Source::bf16 && HWY_UNLIKELY(!hn::AllFalse(Floats(), hn::IsNaN(x))))
      for (size_t k = i; k < i + lanes; ++k)
        emitOne<sink>(loadElement(source, arguments.input, k), output + k);
    else
      emit<sink>(x, output + i);
  }
  for (; i < arguments.elements; ++i)
    emitOne<sink>(loadElement(source, arguments.input, i), output + i);
}

template <Source wide, Sink sink>
void decodeHalves(const DecodeArguments &arguments, float limit, OutputOf<sink> *output) {
  const Floats floats;
  const Words words;
  const FloatVector top = hn::Set(floats, limit), bottom = hn::Set(floats, -limit);
  const auto one = [&](uint64_t i) {
    const float value = loadElement(wide, arguments.body, i);
    emitOne<sink>(isFinite(value) ? holdWithin(value, limit) : value, output + i);
  };
  uint64_t i = 0;
  for (; i + lanes <= arguments.elements; i += lanes) {
    const FloatVector x = loadElements<wide>(arguments.body, i);
    if (HWY_UNLIKELY(!hn::AllTrue(words, hn::Lt(magnitudesOf(x), hn::Set(words, infinityBits))))) {
      for (size_t k = i; k < i + lanes; ++k)
        one(k);
      continue;
    }
    emit<sink>(hn::Max(hn::Min(x, top), bottom), output + i);
  }
  for (; i < arguments.elements; ++i)
    one(i);
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
