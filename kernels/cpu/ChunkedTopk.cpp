//===-- kernels/cpu/ChunkedTopk.cpp - The largest of each bucket, as levels -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Magnitudes of what is sent of a bucket lie between the smallest and the largest of them: these are the ends
// of the levels, and the sign is a bit of its own. So no level is wasted on what is not sent.
//
//===----------------------------------------------------------------------===//

#include "ChunkedTopk.h"

#include "Buckets.h"
#include "TopkCut.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx {
namespace {

/// The parts of a bucket's bytes.
struct BucketParts {
  uint64_t count; ///< of what is sent
  uint64_t positions, codes;

  BucketParts(const cgx_codec &codec, uint64_t elements)
      : count(cgx_sparse_count(&codec, elements)), positions(2 * cgx_scale_bytes(&codec)),
        codes(positions + cgx_position_bytes(elements, count)) {}
};

/// Signs take one bit.
uint32_t levelBits(const cgx_codec &codec) { return codec.bits - 1; }

/// What is known of the magnitudes that are sent of a bucket, none of them NaN.
struct Magnitudes {
  float smallest, largest;
  double sum;

  /// The scale as it is stored: of signs alone, the mean.
  BucketScale scaleOf(const cgx_codec &codec, uint64_t count) const {
    if (!isFinite(largest))
      return notFiniteScale();
    if (levelBits(codec) != 0)
      return makeBucketScale(smallest, largest, levelBits(codec), codec.scale);
    const BucketScale mean = {nearestScale(float(sum / double(count)), codec.scale), 0.0f};
    return isFiniteScale(mean) ? mean : notFiniteScale();
  }
};

void storeCode(uint8_t *codes, uint32_t bits, uint64_t index, uint32_t code) {
  for (uint32_t bit = 0; bit < bits; ++bit)
    setBit(codes, index * bits + bit, (code >> bit) & 1);
}

uint32_t loadCode(const uint8_t *codes, uint32_t bits, uint64_t index) {
  uint32_t code = 0;
  for (uint32_t bit = 0; bit < bits; ++bit)
    code |= uint32_t(loadBit(codes, index * bits + bit)) << bit;
  return code;
}

/// Elements value(0) to value(elements - 1).
template <typename Value>
void encodeBucket(const cgx_codec &codec, uint64_t elements, const Value &value, uint8_t *bytes) {
  const BucketParts parts(codec, elements);
  const Cut cut = findCut(elements, parts.count, [&](uint64_t i) { return magnitudeBits(value(i)); });
  PositionsWriter positions(elements, parts.count, bytes + parts.positions);
  Magnitudes magnitudes = {floatFromBits(cut.magnitude), 0.0f, 0.0};
  bool isFiniteBucket = true;
  forEachOfLargest(elements, cut, value, [&](uint64_t i, float x) {
    const float magnitude = floatFromBits(magnitudeBits(x));
    positions.add(i);
    isFiniteBucket = isFiniteBucket && isFinite(x);
    magnitudes.largest = magnitude > magnitudes.largest ? magnitude : magnitudes.largest;
    magnitudes.sum += double(magnitude);
  });
  positions.finish();
  const BucketScale scale = isFiniteBucket ? magnitudes.scaleOf(codec, parts.count) : notFiniteScale();
  storeScaleValue(bytes, codec.scale, 0, scale.minimum);
  storeScaleValue(bytes, codec.scale, 1, scale.unit);
  uint8_t *codes = bytes + parts.codes;
  memset(codes, 0, (parts.count * codec.bits + 7) / 8);
  if (!isFiniteScale(scale))
    return;
  const uint32_t bits = levelBits(codec);
  const FixedPointMap map = bits ? makeFixedPointMap(scale, bits) : FixedPointMap{};
  uint64_t sent = 0;
  forEachOfLargest(elements, cut, value, [&](uint64_t, float x) {
    const float magnitude = floatFromBits(magnitudeBits(x));
    const uint32_t level =
        bits ? cutFraction(fixedPoint(map, magnitude), roundingOffset(CGX_ROUND_NEAREST, bits, 0), bits) : 0;
    storeCode(codes, codec.bits, sent++, uint32_t(x < 0.0f) | level << 1);
  });
}

/// Calls visit(begin, elements, bytes of the bucket).
template <typename Visit>
void forEachBucketBytes(const cgx_codec &codec, uint64_t elements, uint64_t body, const Visit &visit) {
  forEachBucket(codec.bucket, elements, [&](uint64_t, uint64_t begin, uint64_t end) {
    visit(begin, end - begin, body);
    body += cgx_topk_bucket_bytes(&codec, end - begin);
  });
}

bool isWellFormed(const DecodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  bool isEach = true;
  forEachBucketBytes(codec, arguments.elements, 0, [&](uint64_t, uint64_t elements, uint64_t at) {
    const BucketParts parts(codec, elements);
    isEach = isEach &&
             PositionsReader(elements, parts.count, arguments.body + at + parts.positions).isWellFormed();
  });
  return isEach;
}

/// Calls spoiled(begin, elements) for buckets that are not finite, and take(index, value) for what others
/// send. Only for bodies that are well formed.
template <typename Spoiled, typename Take>
void forEachSent(const DecodeArguments &arguments, float limit, const Spoiled &spoiled, const Take &take) {
  const cgx_codec &codec = *arguments.codec;
  forEachBucketBytes(codec, arguments.elements, 0, [&](uint64_t begin, uint64_t elements, uint64_t at) {
    const BucketParts parts(codec, elements);
    const uint8_t *bytes = arguments.body + at;
    const BucketScale scale = {loadScaleValue(bytes, codec.scale, 0), loadScaleValue(bytes, codec.scale, 1)};
    if (!isFiniteScale(scale))
      return spoiled(begin, elements);
    const PositionsReader positions(elements, parts.count, bytes + parts.positions);
    positions.forEach([&](uint64_t i, uint64_t position) {
      const uint32_t code = loadCode(bytes + parts.codes, codec.bits, i);
      const float magnitude = levelValue(scale, code >> 1, limit);
      take(begin + position, code & 1 ? -magnitude : magnitude);
    });
  });
}

} // namespace

uint64_t encodeTopkLevels(const EncodeArguments &arguments) {
  withSource(arguments.source, [&](auto load) {
    forEachBucketBytes(
        *arguments.codec, arguments.elements, 0, [&](uint64_t begin, uint64_t elements, uint64_t at) {
          encodeBucket(
              *arguments.codec, elements, [&](uint64_t i) { return load(arguments.input, begin + i); },
              arguments.body + at);
        });
  });
  return cgx_topk_body_bytes(arguments.codec, arguments.type, arguments.elements);
}

DecodeError decodeTopkLevels(const DecodeArguments &arguments, void *output) {
  if (!isWellFormed(arguments))
    return DecodeError::malformed;
  memset(output, 0, arguments.elements * cgx_element_bytes(arguments.type));
  forEachSent(
      arguments, largestValue(arguments.type),
      [&](uint64_t begin, uint64_t elements) {
        for (uint64_t i = begin; i < begin + elements; ++i)
          storeElement(arguments.type, output, i, quietNan());
      },
      [&](uint64_t index, float value) { storeElement(arguments.type, output, index, value); });
  return DecodeError::ok;
}

DecodeError addTopkLevels(const DecodeArguments &arguments, float *accumulator) {
  if (!isWellFormed(arguments))
    return DecodeError::malformed;
  forEachSent(
      arguments, largestValue(CGX_F32),
      [&](uint64_t begin, uint64_t elements) {
        for (uint64_t i = begin; i < begin + elements; ++i)
          accumulator[i] = quietNan();
      },
      [&](uint64_t index, float value) { accumulator[index] += value; });
  return DecodeError::ok;
}

} // namespace cgx
