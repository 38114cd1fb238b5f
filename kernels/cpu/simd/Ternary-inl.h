//===-- Ternary-inl.h - The ternary codec in vectors ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#if defined(CGX_KERNELS_CPU_SIMD_TERNARY) == defined(HWY_TARGET_TOGGLE)
#ifdef CGX_KERNELS_CPU_SIMD_TERNARY
#undef CGX_KERNELS_CPU_SIMD_TERNARY
#else
#define CGX_KERNELS_CPU_SIMD_TERNARY
#endif

#include "Rows-inl.h"
#include "cgx/arithmetic/bit_plane.h"
#include "cgx/arithmetic/scale_section.h"
#include "cgx/arithmetic/ternary.h"

HWY_BEFORE_NAMESPACE();
namespace cgx {
namespace HWY_NAMESPACE {

/// Returns the elements of a vector that are kept, one bit each.
HWY_INLINE uint32_t keptBits(FloatVector x, FloatVector prescale, FloatVector factor, WordVector random) {
  const Floats floats;
  const hn::RebindToSigned<Floats> integers;
  const FloatVector fixed = hn::MulAdd(hn::Mul(hn::Abs(x), prescale), factor, hn::Set(floats, 8388608.0f));
  const WordVector share = hn::And(hn::BitCast(Words(), fixed), hn::Set(Words(), 0x1ffff));
  return bitsOfMask(
      hn::RebindMask(floats, hn::Lt(hn::BitCast(integers, random), hn::BitCast(integers, share))));
}

template <Source source> void encodeTernaryFrom(const EncodeArguments &arguments) {
  const Floats floats;
  const cgx_codec &codec = *arguments.codec;
  const uint64_t elements = arguments.elements;
  uint8_t *kept = arguments.body + cgx_bucket_count(&codec, elements) * cgx_scale_bytes(&codec);
  uint8_t *negative = kept + planeBytes(elements);
  RandomCursor random(arguments.key);
  forEachBucket(codec.bucket, elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const float scale =
        scaleNotBelow(floatFromBits(largestMagnitude<source>(arguments.input, begin, end)), codec.scale);
    storeScaleValue(arguments.body, codec.scale, bucket, scale);
    if (!isFinite(scale)) {
      memset(kept + begin / 8, 0, planeBytes(end - begin));
      memset(negative + begin / 8, 0, planeBytes(end - begin));
      return;
    }
    const ShareMap map = makeShareMap(scale);
    const FloatVector prescale = hn::Set(floats, map.prescale), factor = hn::Set(floats, map.factor);
    const FloatVector zero = hn::Zero(floats);
    uint64_t i = begin;
    for (; i + 32 <= end; i += 32) {
      prefetchRow<source>(arguments.input, i);
      random.seek(arguments.firstElement + i, 32);
      uint32_t keptRow = 0, negativeRow = 0;
      for (size_t c = 0; c < rowLanes; c += lanes) {
        const RandomRow bits = randomRow(random, arguments.firstElement + i, c);
        const FloatVector low = loadElements<source>(arguments.input, i + c);
        const FloatVector high = loadElements<source>(arguments.input, i + 16 + c);
        keptRow |= keptBits(low, prescale, factor, bits.low) << c |
                   keptBits(high, prescale, factor, bits.high) << (16 + c);
        negativeRow |= bitsOfMask(hn::Lt(low, zero)) << c | bitsOfMask(hn::Lt(high, zero)) << (16 + c);
      }
      storeRow(kept, i, keptRow);
      storeRow(negative, i, negativeRow);
    }
    memset(kept + i / 8, 0, planeBytes(end - i));
    memset(negative + i / 8, 0, planeBytes(end - i));
    for (; i < end; ++i) {
      const float x = loadElement(source, arguments.input, i);
      setBit(kept, i,
             isKept(shareOf(map, floatFromBits(magnitudeBits(x))),
                    randomHalf(arguments.key, arguments.firstElement + i)));
      setBit(negative, i, x < 0.0f);
    }
  });
}

template <Sink sink>
void decodeTernaryTo(const DecodeArguments &arguments, float limit, OutputOf<sink> *output) {
  const Floats floats;
  const cgx_codec &codec = *arguments.codec;
  const uint8_t *kept =
      arguments.body + cgx_bucket_count(&codec, arguments.elements) * cgx_scale_bytes(&codec);
  const uint8_t *negative = kept + planeBytes(arguments.elements);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const float scale = holdWithin(loadScaleValue(arguments.body, codec.scale, bucket), limit);
    const float none = isFinite(scale) ? 0.0f : scale;
    const FloatVector zero = hn::Set(floats, none), plus = hn::Set(floats, scale),
                      minus = hn::Set(floats, -scale);
    uint64_t i = begin;
    for (; i + 32 <= end; i += 32) {
      const uint32_t keptRow = loadRow(kept, i), negativeRow = loadRow(negative, i);
      for (size_t c = 0; c < 32; c += lanes) {
        const FloatVector signedScale = hn::IfThenElse(maskOfBits(negativeRow >> c), minus, plus);
        emit<sink>(hn::IfThenElse(maskOfBits(keptRow >> c), signedScale, zero), output + i + c);
      }
    }
    for (; i < end; ++i)
      emitOne<sink>(!loadBit(kept, i) ? none : loadBit(negative, i) ? -scale : scale, output + i);
  });
}

} // namespace HWY_NAMESPACE
} // namespace cgx
HWY_AFTER_NAMESPACE();

#endif // per-target include guard
