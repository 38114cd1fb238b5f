//===-- Sign.cpp - The sign codec in a plain loop -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buckets.h"
#include "Families.h"
#include "cgx/arithmetic/bit_plane.h"
#include "cgx/arithmetic/sign_scale.h"

namespace cgx {
namespace {

uint64_t encode(const EncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  uint8_t *negative = arguments.body + signScaleBytes(codec, arguments.elements);
  memset(negative, 0, planeBytes(arguments.elements));
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    SignSums sums;
    for (uint64_t i = begin; i < end; ++i)
      sums.add((i - begin) % SignSums::lanes, loadElement(arguments.source, arguments.input, i));
    const SignScale scale = sums.scaleOf(codec, end - begin);
    storeSignScale(arguments.body, codec, bucket, scale);
    if (!isFinite(scale.positive))
      return;
    for (uint64_t i = begin; i < end; ++i)
      setBit(negative, i, loadElement(arguments.source, arguments.input, i) < 0.0f);
  });
  return cgx_sign_body_bytes(&codec, arguments.elements);
}

template <typename Consume>
void forEachValue(const DecodeArguments &arguments, float limit, const Consume &consume) {
  const cgx_codec &codec = *arguments.codec;
  const uint8_t *negative = arguments.body + signScaleBytes(codec, arguments.elements);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const SignScale scale = loadSignScale(arguments.body, codec, bucket, limit);
    for (uint64_t i = begin; i < end; ++i)
      consume(i, loadBit(negative, i) ? scale.negative : scale.positive);
  });
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  return storeValues(arguments, output, [](const auto &...all) { forEachValue(all...); });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  return addValues(arguments, accumulator, [](const auto &...all) { forEachValue(all...); });
}

} // namespace

const BodyKernels signReference = {encode, decode, decodeAccumulate};

} // namespace cgx
