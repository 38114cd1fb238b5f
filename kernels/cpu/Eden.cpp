//===-- Eden.cpp - The eden codec in a plain loop -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/arithmetic/eden.h"
#include "Buckets.h"
#include "EdenBody.h"
#include "Families.h"
#include "cgx/arithmetic/packing.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx {
namespace {

/// Encodes a bucket that is prescaled, filled up with zeros and rotated. Returns its scale.
float encodeRotated(const EdenSections<uint8_t> &body, const EncodeArguments &arguments, const float *x,
                    uint64_t begin, float prescale) {
  const uint32_t bits = arguments.codec->bits;
  const float *levels = normalLevels(bits);
  const uint64_t length = body.lengthAt(begin);
  const float inverseLength = 1.0f / float(length);
  float squares[16] = {}, products[16] = {};
  for (uint64_t i = 0; i < length; ++i)
    squares[i % 16] = fusedMultiplyAdd(x[i], x[i], squares[i % 16]);
  const float sum = foldEdenLanes(squares), factor = edenFactor(sum, inverseLength);
  for (uint64_t i = 0; i < length; ++i) {
    const uint32_t code = edenCode(levels, bits, x[i], factor);
    const float level = levels[code & ((1u << (bits - 1)) - 1u)];
    products[i % 16] = fusedMultiplyAdd(floatFromBits(magnitudeBits(x[i])), level, products[i % 16]);
    storeLevel(body.levels, bits, levelPlace(bits, body.elements, begin + i), code);
  }
  return edenScale(sum, foldEdenLanes(products), inverseLength, prescale);
}

uint64_t encode(const EncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  const uint64_t seed = edenSeed(arguments.key, arguments.firstElement);
  memcpy(arguments.body, &seed, sizeof seed);
  const EdenSections<uint8_t> body(codec, arguments.body, arguments.elements);
  memset(body.levels, 0, body.elements / 8 * codec.bits);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const uint32_t largest = largestMagnitudeBits(arguments.source, arguments.input, begin, end);
    if (largest == 0 || largest >= infinityBits) // all levels stay 0
      return storeScaleValue(body.scales, codec.scale, bucket, largest == 0 ? 0.0f : quietNan());
    const float prescale = edenPrescale(largest);
    float x[CGX_EDEN_MOST_BUCKET] = {};
    for (uint64_t i = begin; i < end; ++i)
      x[i - begin] = loadElement(arguments.source, arguments.input, i) * prescale;
    rotateEdenBucket(x, begin, body.lengthAt(begin), seed);
    const float scale = encodeRotated(body, arguments, x, begin, prescale);
    storeScaleValue(
        body.scales, codec.scale, bucket,
        roundEdenScale(scale, codec.scale, randomHalf(arguments.key, arguments.firstElement + begin)));
  });
  return cgx_eden_body_bytes(&codec, arguments.elements);
}

template <typename Consume>
void forEachValue(const DecodeArguments &arguments, float limit, const Consume &consume) {
  const cgx_codec &codec = *arguments.codec;
  const float *levels = normalLevels(codec.bits);
  const uint32_t sign = 1u << (codec.bits - 1);
  const EdenSections<const uint8_t> body(codec, arguments.body, arguments.elements);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const float scale = loadScaleValue(body.scales, codec.scale, bucket);
    const uint64_t length = body.lengthAt(begin);
    float x[CGX_EDEN_MOST_BUCKET];
    for (uint64_t i = 0; i < length; ++i) {
      const uint32_t code =
          loadLevel(body.levels, codec.bits, levelPlace(codec.bits, body.elements, begin + i));
      x[i] = code & sign ? -levels[code - sign] : levels[code];
    }
    rotateEdenBucketBack(x, begin, length, body.seed());
    for (uint64_t i = begin; i < end; ++i)
      consume(i, isFinite(scale) ? edenValue(x[i - begin], 1.0f / float(length), scale, limit) : quietNan());
  });
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  return storeValues(arguments, output, [](const auto &...all) { forEachValue(all...); });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  return addValues(arguments, accumulator, [](const auto &...all) { forEachValue(all...); });
}

} // namespace

const BodyKernels edenReference = {encode, decode, decodeAccumulate};

} // namespace cgx
