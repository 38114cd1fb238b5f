//===-- Natural-inl.h - The natural codec in vectors ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_NATURAL) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_NATURAL
#undef CGX_KERNELS_CPU_SIMD_NATURAL
#else
#define CGX_KERNELS_CPU_SIMD_NATURAL
#endif

#include "Rows-inl.h"
#include "cgx/arithmetic/bit_plane.h"
#include "cgx/arithmetic/natural.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

using Bytes = hn::Rebind<uint8_t, Words>;

HWY_INLINE void storeExponents(FloatVector x, WordVector random, uint8_t *out) {
  const Words words;
  const WordVector magnitude = magnitudesOf(x);
  const WordVector fraction = hn::Or(hn::ShiftLeft<7>(random), hn::Set(words, 0x40));
  const WordVector rounded =
      hn::Min(hn::ShiftRight<23>(hn::Add(magnitude, fraction)), hn::Set(words, naturalLargest));
  const WordMask isNumber = hn::Lt(magnitude, hn::Set(words, infinityBits));
  const WordVector exponent = hn::IfThenElse(isNumber, rounded, hn::Set(words, naturalNotFinite));
  hn::StoreU(hn::TruncateTo(Bytes(), exponent), Bytes(), out);
}

template <Source source> void encodeNaturalFrom(const EncodeArguments &arguments) {
  const FloatVector zero = hn::Zero(Floats());
  const uint64_t elements = arguments.elements;
  uint8_t *exponents = arguments.body, *negative = exponents + elements;
  RandomCursor random(arguments.key);
  uint64_t i = 0;
  for (; i + 32 <= elements; i += 32) {
    prefetchRow<source>(arguments.input, i);
    random.seek(arguments.firstElement + i, 32);
    uint32_t row = 0;
    for (size_t c = 0; c < rowLanes; c += lanes) {
      const RandomRow bits = randomRow(random, arguments.firstElement + i, c);
      const FloatVector low = loadElements<source>(arguments.input, i + c);
      const FloatVector high = loadElements<source>(arguments.input, i + 16 + c);
      storeExponents(low, bits.low, exponents + i + c);
      storeExponents(high, bits.high, exponents + i + 16 + c);
      row |= bitsOfMask(hn::Lt(low, zero)) << c | bitsOfMask(hn::Lt(high, zero)) << (16 + c);
    }
    storeRow(negative, i, row);
  }
  memset(negative + i / 8, 0, planeBytes(elements - i));
  for (; i < elements; ++i) {
    const float x = loadElement(source, arguments.input, i);
    exponents[i] = uint8_t(naturalExponent(x, randomHalf(arguments.key, arguments.firstElement + i)));
    setBit(negative, i, x < 0.0f);
  }
}

template <Sink sink>
void decodeNaturalTo(const DecodeArguments &arguments, float limit, OutputOf<sink> *output) {
  const Floats floats;
  const Words words;
  const uint8_t *exponents = arguments.body, *negative = exponents + arguments.elements;
  const WordVector most = hn::Set(words, floatBits(limit));
  const FloatVector nan = hn::Set(floats, quietNan());
  uint64_t i = 0;
  for (; i + 32 <= arguments.elements; i += 32) {
    const uint32_t row = loadRow(negative, i);
    for (size_t c = 0; c < 32; c += lanes) {
      const WordVector exponent = hn::PromoteTo(words, hn::LoadU(Bytes(), exponents + i + c));
      const FloatVector magnitude = hn::BitCast(floats, hn::Min(hn::ShiftLeft<23>(exponent), most));
      const FloatVector value = hn::IfThenElse(maskOfBits(row >> c), hn::Neg(magnitude), magnitude);
      const WordMask isNan = hn::Eq(exponent, hn::Set(words, naturalNotFinite));
      emit<sink>(hn::IfThenElse(hn::RebindMask(floats, isNan), nan, value), output + i + c);
    }
  }
  for (; i < arguments.elements; ++i)
    emitOne<sink>(naturalValue(exponents[i], loadBit(negative, i), limit), output + i);
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
