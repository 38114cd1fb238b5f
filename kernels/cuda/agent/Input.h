//===-- Input.h - The input of an encoder -----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_INPUT_H
#define CGX_KERNELS_CUDA_AGENT_INPUT_H

#include "Descriptor.h"
#include "cgx/arithmetic/magnitude.h"

namespace cgx::cuda {

/// Reads the elements of a tensor.
struct TensorInput {
  CGX_AGENT static float load(const EncodeDescriptor &desc, uint64_t index) {
    return loadElement(desc.source, desc.input, index);
  }
};

/// Rounds a value in f32 to the element type.
CGX_AGENT float roundTo(cgx_element_type type, float value) {
  return type == CGX_F16    ? floatFromFloat16(float16FromFloat(value))
         : type == CGX_BF16 ? floatFromBfloat16(bfloat16FromFloat(value))
                            : value;
}

/// Rounds a sum in f32 once to the element type.
CGX_AGENT float roundSum(Source source, float sum) {
  return roundTo(source == Source::f32ToF16    ? CGX_F16
                 : source == Source::f32ToBf16 ? CGX_BF16
                                               : CGX_F32,
                 sum);
}

/// Returns the value that an empty sum begins with. -0 keeps the signs of zeros in lossless codecs, where the
/// CPU copies the first addend.
CGX_AGENT float emptySum(const cgx_codec &codec) {
  return codec.family == CGX_CODEC_IDENTITY || codec.family == CGX_CODEC_LOSSLESS ? -0.0f : 0.0f;
}

CGX_AGENT float divided(const EncodeDescriptor &desc, float sum) {
  return desc.reciprocal != 0.0f ? sum * desc.reciprocal : sum / desc.divisor;
}

/// Reads the sum of an owner, computed anew for every element.
template <typename Family> struct SumInput {
  CGX_AGENT static float load(const EncodeDescriptor &desc, uint64_t index) {
    float sum = emptySum(desc.codec);
    for (uint32_t i = 0; i < desc.contributionCount; ++i) {
      const PayloadDescriptor &payload = desc.contributions[i];
      sum += Family::value(desc.codec, desc.type, payload.payload + payload.bodyBegin, desc.sections,
                           desc.elements, index, largestValue(CGX_F32));
    }
    return roundSum(desc.source, divided(desc, sum));
  }
};

/// Returns the end of a bucket that begins at `begin`.
CGX_AGENT uint64_t bucketEnd(const EncodeDescriptor &desc, uint64_t begin) {
  const uint64_t left = desc.elements - begin;
  return begin + (left < desc.codec.bucket ? left : desc.codec.bucket);
}

/// Returns the bits of the largest magnitude of a bucket, in all lanes.
template <typename Input, typename Warp>
CGX_AGENT uint32_t largestBits(const Warp &lanes, const EncodeDescriptor &desc, uint64_t begin,
                               uint64_t end) {
  PerLane<Warp, uint32_t> largest;
  lanes.forEach([&](uint32_t lane) {
    largest[lane] = 0;
    for (uint64_t i = begin + lane; i < end; i += laneCount) {
      const uint32_t bits = magnitudeBits(Input::load(desc, i));
      largest[lane] = bits > largest[lane] ? bits : largest[lane];
    }
  });
  return lanes.first(
      combineLanes(lanes, largest, laneCount, [](uint32_t a, uint32_t b) { return a > b ? a : b; }));
}

/// Returns byte `byte` of a bit plane in which the bits of elements with isSet(i) are 1.
template <typename IsSet> CGX_AGENT uint8_t planeByte(uint64_t byte, uint64_t elements, const IsSet &isSet) {
  uint32_t bits = 0;
  for (uint64_t i = byte * 8; i < byte * 8 + 8 && i < elements; ++i)
    bits |= uint32_t(isSet(i)) << (i % 8);
  return uint8_t(bits);
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_INPUT_H
