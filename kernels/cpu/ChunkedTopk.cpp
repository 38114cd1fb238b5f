//===-- kernels/cpu/ChunkedTopk.cpp - The largest of each bucket, as levels -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkedTopk.h"

#include "Buckets.h"
#include "TopkCut.h"
#include "cgx/arithmetic/scale_section.h"
#include "cgx/arithmetic/topk_levels.h"

namespace cgx {
namespace {

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

/// Encodes a bucket whose elements are value(0) to value(elements - 1).
template <typename Value>
void encodeBucket(const cgx_codec &codec, uint64_t elements, const Value &value, uint8_t *bytes) {
  const TopkBucketParts parts = topkBucketParts(codec, elements);
  const Cut cut = findCut(elements, parts.count, [&](uint64_t i) { return magnitudeBits(value(i)); });
  PositionsWriter positions(elements, parts.count, bytes + parts.positions);
  uint32_t largest = 0;
  double sum = 0.0;
  forEachOfLargest(elements, cut, value, [&](uint64_t i, float x) {
    positions.add(i);
    largest = std::max(largest, magnitudeBits(x));
    sum += double(floatFromBits(magnitudeBits(x)));
  });
  positions.finish();
  const BucketScale scale = largest < infinityBits ? topkScale(codec, floatFromBits(cut.magnitude),
                                                               floatFromBits(largest), sum, parts.count)
                                                   : notFiniteScale();
  storeScaleValue(bytes, codec.scale, 0, scale.minimum);
  storeScaleValue(bytes, codec.scale, 1, scale.unit);
  uint8_t *codes = bytes + parts.codes;
  memset(codes, 0, (parts.count * codec.bits + 7) / 8);
  if (!isFiniteScale(scale))
    return;
  const TopkLevelMap levels = makeTopkLevelMap(codec, scale);
  uint64_t sent = 0;
  forEachOfLargest(elements, cut, value,
                   [&](uint64_t, float x) { storeCode(codes, codec.bits, sent++, topkCode(levels, x)); });
}

/// Calls visit(begin, elements, bytes of the bucket) for every bucket.
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
    const TopkBucketParts parts = topkBucketParts(codec, elements);
    isEach = isEach &&
             PositionsReader(elements, parts.count, arguments.body + at + parts.positions).isWellFormed();
  });
  return isEach;
}

/// Calls spoiled(begin, elements) for buckets that are not finite, and take(index, value) for the elements
/// that others send. Bodies must be well formed.
template <typename Spoiled, typename Take>
void forEachSent(const DecodeArguments &arguments, float limit, const Spoiled &spoiled, const Take &take) {
  const cgx_codec &codec = *arguments.codec;
  forEachBucketBytes(codec, arguments.elements, 0, [&](uint64_t begin, uint64_t elements, uint64_t at) {
    const TopkBucketParts parts = topkBucketParts(codec, elements);
    const uint8_t *bytes = arguments.body + at;
    const BucketScale scale = {loadScaleValue(bytes, codec.scale, 0), loadScaleValue(bytes, codec.scale, 1)};
    if (!isFiniteScale(scale))
      return spoiled(begin, elements);
    const PositionsReader positions(elements, parts.count, bytes + parts.positions);
    positions.forEach([&](uint64_t i, uint64_t position) {
      take(begin + position, topkValue(scale, loadCode(bytes + parts.codes, codec.bits, i), limit));
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
