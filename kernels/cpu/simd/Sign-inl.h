//===-- Sign-inl.h - The sign codec in vectors ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_SIGN) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_SIGN
#undef CGX_KERNELS_CPU_SIMD_SIGN
#else
#define CGX_KERNELS_CPU_SIMD_SIGN
#endif

#include "Rows-inl.h"
#include "cgx/arithmetic/bit_plane.h"
#include "cgx/arithmetic/sign_scale.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

using HalfFloats = hn::Half<Floats>;
using Doubles = hn::Rebind<double, HalfFloats>;
using DoubleVector = hn::Vec<Doubles>;

/// The sums of one sign, in SignSums::lanes lanes.
struct LaneSums {
  static constexpr size_t doubleLanes = lanes / 2;
  static constexpr size_t vectors = SignSums::lanes / doubleLanes;
  DoubleVector sums[vectors];

  HWY_INLINE LaneSums() {
    for (DoubleVector &sum : sums)
      sum = hn::Zero(Doubles());
  }

  /// Adds the elements from c on of a group of 16.
  HWY_INLINE void add(size_t c, FloatVector x) {
    const HalfFloats half;
    const size_t at = c / doubleLanes;
    sums[at] = hn::Add(sums[at], hn::PromoteTo(Doubles(), hn::LowerHalf(half, x)));
    sums[at + 1] = hn::Add(sums[at + 1], hn::PromoteTo(Doubles(), hn::UpperHalf(half, x)));
  }

  void store(double *to) const {
    for (size_t v = 0; v < vectors; ++v)
      hn::StoreU(sums[v], Doubles(), to + v * doubleLanes);
  }
};

template <Source source> void encodeSignFrom(const EncodeArguments &arguments) {
  const Floats floats;
  const cgx_codec &codec = *arguments.codec;
  uint8_t *negative = arguments.body + signScaleBytes(codec, arguments.elements);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const FloatVector zero = hn::Zero(floats);
    LaneSums positiveSums, negativeSums;
    SignSums sums;
    FloatVector poison = zero; // x * 0 is a NaN if x is not finite
    uint64_t i = begin;
    for (; i + 32 <= end; i += 32) {
      prefetchRow<source>(arguments.input, i);
      uint32_t row = 0;
      for (size_t c = 0; c < 32; c += lanes) {
        const FloatVector x = loadElements<source>(arguments.input, i + c);
        const FloatMask isNegative = hn::Lt(x, zero);
        poison = hn::MulAdd(x, zero, poison);
        positiveSums.add(c % 16, hn::IfThenZeroElse(isNegative, x));
        negativeSums.add(c % 16, hn::IfThenElseZero(isNegative, x));
        row |= bitsOfMask(isNegative) << c;
      }
      sums.negatives += uint64_t(__builtin_popcount(row));
      storeRow(negative, i, row);
    }
    positiveSums.store(sums.positive);
    negativeSums.store(sums.negative);
    sums.finite = hn::AllTrue(floats, hn::Eq(poison, poison));
    memset(negative + i / 8, 0, planeBytes(end - i));
    for (; i < end; ++i) {
      const float x = loadElement(source, arguments.input, i);
      sums.add((i - begin) % SignSums::lanes, x);
      setBit(negative, i, x < 0.0f);
    }
    const SignScale scale = sums.scaleOf(codec, end - begin);
    storeSignScale(arguments.body, codec, bucket, scale);
    if (!isFinite(scale.positive))
      memset(negative + begin / 8, 0, planeBytes(end - begin));
  });
}

template <Sink sink>
void decodeSignTo(const DecodeArguments &arguments, float limit, OutputOf<sink> *output) {
  const Floats floats;
  const cgx_codec &codec = *arguments.codec;
  const uint8_t *negative = arguments.body + signScaleBytes(codec, arguments.elements);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const SignScale scale = loadSignScale(arguments.body, codec, bucket, limit);
    const FloatVector plus = hn::Set(floats, scale.positive), minus = hn::Set(floats, scale.negative);
    uint64_t i = begin;
    for (; i + 32 <= end; i += 32) {
      const uint32_t row = loadRow(negative, i);
      for (size_t c = 0; c < 32; c += lanes)
        emit<sink>(hn::IfThenElse(maskOfBits(row >> c), minus, plus), output + i + c);
    }
    for (; i < end; ++i)
      emitOne<sink>(loadBit(negative, i) ? scale.negative : scale.positive, output + i);
  });
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
