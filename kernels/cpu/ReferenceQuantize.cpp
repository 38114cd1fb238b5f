//===-- ReferenceQuantize.cpp - The quantize codec in a plain loop --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceQuantize.h"

#include "Elements.h"
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

void encode(const QuantizeEncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  const uint64_t elements = arguments.elements;
  memset(arguments.levels, 0, (elements * codec.bits + 7) / 8);
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

void decode(const QuantizeDecodeArguments &arguments, cgx_element_type type, void *output) {
  forEachValue(arguments, largestValue(type),
               [&](uint64_t i, float value) { storeElement(type, output, i, value); });
}

void decodeAccumulate(const QuantizeDecodeArguments &arguments, float *accumulator) {
  forEachValue(arguments, largestValue(CGX_F32), [&](uint64_t i, float value) { accumulator[i] += value; });
}

} // namespace

const QuantizeKernels referenceQuantizeKernels = {encode, decode, decodeAccumulate};

} // namespace cgx
