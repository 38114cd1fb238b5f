//===-- Quantize.cpp - The quantize codec in a plain loop -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "Families.h"
#include "QuantizeSections.h"
#include "ScaleSection.h"
#include "cgx/kernels/packing.h"

namespace cgx {
namespace {

uint64_t bucketEnd(const cgx_codec &codec, uint64_t elements, uint64_t begin) {
  return elements - begin < codec.bucket ? elements : begin + codec.bucket;
}

BucketScale measureBucket(const QuantizeEncodeArguments &arguments, uint64_t begin, uint64_t end) {
  float minimum = loadElement(arguments.source, arguments.input, begin);
  float maximum = minimum;
  for (uint64_t i = begin; i < end; ++i) {
    float x = loadElement(arguments.source, arguments.input, i);
    if (!isFinite(x))
      return notFiniteScale();
    minimum = x < minimum ? x : minimum;
    maximum = x > maximum ? x : maximum;
  }
  return makeBucketScale(minimum, maximum, arguments.codec->bits, arguments.codec->scale);
}

uint64_t encode(const EncodeArguments &whole) {
  const QuantizeEncodeArguments arguments = cutBody(whole);
  const cgx_codec &codec = *arguments.codec;
  const uint64_t elements = arguments.elements;
  memset(arguments.levels, 0, levelBytes(codec, elements));
  uint64_t bucket = 0;
  for (uint64_t begin = 0; begin < elements; begin += codec.bucket, ++bucket) {
    const uint64_t end = bucketEnd(codec, elements, begin);
    const BucketScale scale = measureBucket(arguments, begin, end);
    storeScale(arguments.scales, codec.scale, bucket, scale);
    if (!isFiniteScale(scale))
      continue; // levels 0
    const FixedPointMap map = makeFixedPointMap(scale, codec.bits);
    for (uint64_t i = begin; i < end; ++i) {
      uint32_t fixed = fixedPoint(map, loadElement(arguments.source, arguments.input, i));
      uint16_t random = codec.rounding == CGX_ROUND_STOCHASTIC
                            ? randomHalf(arguments.key, arguments.firstElement + i)
                            : uint16_t(0);
      uint32_t level = cutFraction(fixed, roundingOffset(codec.rounding, codec.bits, random), codec.bits);
      storeLevel(arguments.levels, codec.bits, levelPlace(codec.bits, elements, i), level);
    }
  }
  return cgx_quantize_body_bytes(&codec, elements);
}

/// Calls consume(index, value) for every element.
template <typename Consume>
void forEachValue(const QuantizeDecodeArguments &arguments, float limit, Consume consume) {
  const cgx_codec &codec = *arguments.codec;
  uint64_t bucket = 0;
  for (uint64_t begin = 0; begin < arguments.elements; begin += codec.bucket, ++bucket) {
    const BucketScale scale = loadScale(arguments.scales, codec.scale, bucket);
    const uint64_t end = bucketEnd(codec, arguments.elements, begin);
    for (uint64_t i = begin; i < end; ++i) {
      uint32_t level = loadLevel(arguments.levels, codec.bits, levelPlace(codec.bits, arguments.elements, i));
      consume(i, levelValue(scale, level, limit));
    }
  }
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  forEachValue(cutBody(arguments), largestValue(arguments.type),
               [&](uint64_t i, float value) { storeElement(arguments.type, output, i, value); });
  return DecodeError::ok;
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  forEachValue(cutBody(arguments), largestValue(CGX_F32),
               [&](uint64_t i, float value) { accumulator[i] += value; });
  return DecodeError::ok;
}

const char *check(const cgx_codec &codec, cgx_element_type type) {
  if (const char *wrong = checkIsFloat(type))
    return wrong;
  if (codec.bits < 1 || codec.bits > 8)
    return "expected 1 to 8 bits";
  if (const char *wrong = checkBucket(codec))
    return wrong;
  if (codec.rounding > CGX_ROUND_STOCHASTIC)
    return "expected rounding nearest or stochastic";
  if (codec.scaling != CGX_SCALING_MIN_MAX)
    return "expected scaling min_max";
  if (codec.levels != CGX_LEVELS_UNIFORM)
    return "expected levels uniform";
  return checkScaleType(codec);
}

constexpr BodyKernels reference = {encode, decode, decodeAccumulate};

} // namespace

const CodecFamily quantizeFamily = {"quantize", /*hasEnvelope=*/true, check, &reference};

} // namespace cgx
