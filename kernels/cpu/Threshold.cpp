//===-- kernels/cpu/Threshold.cpp - Elements above a magnitude ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// threshold and adaptive_threshold differ in the smallest magnitude that a bucket sends: it comes from the
// codec, or from the bucket. Their bodies are alike: the number of elements sent, their positions, and their
// values.

#include "Buckets.h"
#include "Families.h"
#include "Positions.h"
#include "SparseBody.h"

namespace cgx {
namespace {

constexpr uint64_t positionsBegin = 8;

/// Returns the bits of the smallest magnitude that is sent. Elements that are not finite are above every
/// threshold; zeros never are.
uint32_t cutOf(float threshold) {
  const uint32_t bits = magnitudeBits(threshold);
  return bits == 0 ? 1 : bits;
}

/// Returns the cut of elements [begin, end): a share of the largest finite magnitude among them.
template <typename Magnitude>
uint32_t adaptiveCut(float share, uint64_t begin, uint64_t end, const Magnitude &magnitude) {
  uint32_t largest = 0;
  for (uint64_t i = begin; i < end; ++i) {
    const uint32_t bits = magnitude(i);
    largest = bits > largest && bits < infinityBits ? bits : largest;
  }
  return cutOf(share * floatFromBits(largest));
}

/// Calls take(i), in order, for all elements that are sent.
template <typename Magnitude, typename Take>
void forEachAbove(const EncodeArguments &arguments, const Magnitude &magnitude, const Take &take) {
  const cgx_codec &codec = *arguments.codec;
  const bool isAdaptive = codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD;
  const uint64_t bucket = isAdaptive ? codec.bucket : arguments.elements;
  forEachBucket(bucket, arguments.elements, [&](uint64_t, uint64_t begin, uint64_t end) {
    const uint32_t cut =
        isAdaptive ? adaptiveCut(codec.threshold, begin, end, magnitude) : cutOf(codec.threshold);
    forEachWanted(
        end - begin, [&](uint64_t i) { return magnitude(begin + i) >= cut; },
        [&](uint64_t i) { take(begin + i); });
  });
}

template <typename Load> uint64_t encodeFrom(const EncodeArguments &arguments, const Load &load) {
  const auto value = [&](uint64_t i) { return load(arguments.input, i); };
  const auto magnitude = [&](uint64_t i) { return magnitudeBits(value(i)); };
  // The elements are counted first, because the coding of positions depends on their number.
  uint64_t count = 0;
  forEachAbove(arguments, magnitude, [&](uint64_t) { ++count; });
  memcpy(arguments.body, &count, sizeof count);
  if (count == 0)
    return positionsBegin;
  PositionsWriter positions(arguments.elements, count, arguments.body + positionsBegin);
  const uint64_t valuesBegin = positionsBegin + cgx_position_bytes(arguments.elements, count);
  uint64_t sent = 0;
  forEachAbove(arguments, magnitude, [&](uint64_t i) {
    positions.add(i);
    storeElement(arguments.type, arguments.body + valuesBegin, sent++, value(i));
  });
  positions.finish();
  return valuesBegin + count * cgx_element_bytes(arguments.type);
}

uint64_t encode(const EncodeArguments &arguments) {
  uint64_t bytes = 0;
  withSource(arguments.source, [&](auto load) { bytes = encodeFrom(arguments, load); });
  return bytes;
}

/// Calls put(values, forEachSent) for a body that is well formed.
template <typename Put> DecodeError decodeWith(const DecodeArguments &arguments, const Put &put) {
  if (arguments.bodyBytes < positionsBegin)
    return DecodeError::malformed;
  uint64_t count;
  memcpy(&count, arguments.body, sizeof count);
  if (count > arguments.elements)
    return DecodeError::malformed;
  if (count == 0) {
    if (arguments.bodyBytes != positionsBegin)
      return DecodeError::malformed;
    put(arguments.body, [](const auto &) {});
    return DecodeError::ok;
  }
  const uint64_t valuesBegin = positionsBegin + cgx_position_bytes(arguments.elements, count);
  if (arguments.bodyBytes != valuesBegin + count * cgx_element_bytes(arguments.type))
    return DecodeError::malformed;
  const PositionsReader positions(arguments.elements, count, arguments.body + positionsBegin);
  if (!positions.isWellFormed())
    return DecodeError::malformed;
  put(arguments.body + valuesBegin, [&](const auto &take) { positions.forEach(take); });
  return DecodeError::ok;
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  return decodeWith(arguments, [&](const uint8_t *values, const auto &forEachSent) {
    storeSparse(arguments, /*rest=*/0.0f, values, output, forEachSent);
  });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  return decodeWith(arguments, [&](const uint8_t *values, const auto &forEachSent) {
    addSparse(arguments, /*rest=*/0.0f, values, accumulator, forEachSent);
  });
}

} // namespace

const BodyKernels thresholdReference = {encode, decode, decodeAccumulate};
const BodyKernels adaptiveThresholdReference = {encode, decode, decodeAccumulate};

} // namespace cgx
