//===-- Ternary.cpp - The ternary codec in a plain loop -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/arithmetic/ternary.h"
#include "Buckets.h"
#include "Families.h"
#include "cgx/arithmetic/bit_plane.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx {
namespace {

uint64_t scaleBytes(const cgx_codec &codec, uint64_t elements) {
  return cgx_bucket_count(&codec, elements) * cgx_scale_bytes(&codec);
}

uint64_t encode(const EncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  uint8_t *kept = arguments.body + scaleBytes(codec, arguments.elements);
  uint8_t *negative = kept + planeBytes(arguments.elements);
  memset(kept, 0, 2 * planeBytes(arguments.elements));
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const uint32_t largest = largestMagnitudeBits(arguments.source, arguments.input, begin, end);
    const float scale = scaleNotBelow(floatFromBits(largest), codec.scale);
    storeScaleValue(arguments.body, codec.scale, bucket, scale);
    if (!isFinite(scale))
      return;
    const ShareMap map = makeShareMap(scale);
    for (uint64_t i = begin; i < end; ++i) {
      const float x = loadElement(arguments.source, arguments.input, i);
      setBit(kept, i,
             isKept(shareOf(map, floatFromBits(magnitudeBits(x))),
                    randomHalf(arguments.key, arguments.firstElement + i)));
      setBit(negative, i, x < 0.0f);
    }
  });
  return cgx_ternary_body_bytes(&codec, arguments.elements);
}

template <typename Consume>
void forEachValue(const DecodeArguments &arguments, float limit, const Consume &consume) {
  const cgx_codec &codec = *arguments.codec;
  const uint8_t *kept = arguments.body + scaleBytes(codec, arguments.elements);
  const uint8_t *negative = kept + planeBytes(arguments.elements);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const float scale = holdWithin(loadScaleValue(arguments.body, codec.scale, bucket), limit);
    const float zero = isFinite(scale) ? 0.0f : scale;
    for (uint64_t i = begin; i < end; ++i)
      consume(i, !loadBit(kept, i) ? zero : loadBit(negative, i) ? -scale : scale);
  });
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  return storeValues(arguments, output, [](const auto &...all) { forEachValue(all...); });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  return addValues(arguments, accumulator, [](const auto &...all) { forEachValue(all...); });
}

} // namespace

const BodyKernels ternaryReference = {encode, decode, decodeAccumulate};

} // namespace cgx
