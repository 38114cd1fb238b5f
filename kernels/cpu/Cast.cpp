//===-- Cast.cpp - The cast codec in a plain loop -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buckets.h"
#include "Families.h"
#include "cgx/arithmetic/cast_sections.h"
#include "cgx/arithmetic/scale_section.h"

namespace cgx {
namespace {

void encodeBucket(const EncodeArguments &arguments, uint64_t bucket, uint64_t begin, uint64_t end) {
  const cgx_codec &codec = *arguments.codec;
  const MiniFormat format = miniFormatOf(codec);
  uint8_t *codes = arguments.body + castCodesOffset(codec, arguments.elements);
  const uint32_t largest = largestMagnitudeBits(arguments.source, arguments.input, begin, end);
  const float factor = storeCastScale(arguments.body, codec, bucket, largest);
  for (uint64_t i = begin; i < end; ++i) {
    const float x = loadElement(arguments.source, arguments.input, i);
    const uint32_t code = isFinite(factor) ? miniCode(format, x * factor) : 0;
    storeCode(format, codes, i, arguments.elements, code);
  }
}

/// Stores the scale of an nvfp4 payload. It comes first because the scales of blocks depend on it.
void storePayloadScale(const EncodeArguments &arguments) {
  uint32_t largest = 0;
  forEachBucket(arguments.codec->bucket, arguments.elements, [&](uint64_t, uint64_t begin, uint64_t end) {
    const uint32_t bits = largestMagnitudeBits(arguments.source, arguments.input, begin, end);
    largest = bits < infinityBits && bits > largest ? bits : largest;
  });
  storeScaleValue(arguments.body, CGX_SCALE_F32, 0, nvfp4Scale(largest));
}

uint64_t encode(const EncodeArguments &arguments) {
  const cgx_codec &codec = *arguments.codec;
  if (isNvfp4(codec))
    storePayloadScale(arguments);
  if (codec.format == CGX_FORMAT_BF16 || codec.format == CGX_FORMAT_F16) {
    const cgx_element_type stored = codec.format == CGX_FORMAT_BF16 ? CGX_BF16 : CGX_F16;
    for (uint64_t i = 0; i < arguments.elements; ++i)
      storeElement(stored, arguments.body, i, loadElement(arguments.source, arguments.input, i));
  } else {
    forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
      encodeBucket(arguments, bucket, begin, end);
    });
  }
  return cgx_cast_body_bytes(&codec, arguments.elements);
}

template <typename Consume>
void forEachValue(const DecodeArguments &arguments, float limit, const Consume &consume) {
  const cgx_codec &codec = *arguments.codec;
  if (codec.format == CGX_FORMAT_BF16 || codec.format == CGX_FORMAT_F16) {
    const Source stored = codec.format == CGX_FORMAT_BF16 ? Source::bf16 : Source::f16;
    for (uint64_t i = 0; i < arguments.elements; ++i) {
      const float value = loadElement(stored, arguments.body, i);
      consume(i, isFinite(value) ? holdWithin(value, limit) : value);
    }
    return;
  }
  const MiniFormat format = miniFormatOf(codec);
  const uint8_t *codes = arguments.body + castCodesOffset(codec, arguments.elements);
  forEachBucket(codec.bucket, arguments.elements, [&](uint64_t bucket, uint64_t begin, uint64_t end) {
    const float scale = loadCastScale(arguments.body, codec, bucket);
    for (uint64_t i = begin; i < end; ++i)
      consume(i, castValue(format, scale, loadCode(format, codes, i, arguments.elements), limit));
  });
}

DecodeError decode(const DecodeArguments &arguments, void *output) {
  return storeValues(arguments, output, [](const auto &...all) { forEachValue(all...); });
}

DecodeError decodeAccumulate(const DecodeArguments &arguments, float *accumulator) {
  return addValues(arguments, accumulator, [](const auto &...all) { forEachValue(all...); });
}

} // namespace

const BodyKernels castReference = {encode, decode, decodeAccumulate};

} // namespace cgx
