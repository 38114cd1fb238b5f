//===-- CodecFamily.h - What a codec family provides ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One object a family, declared by the table of families and defined in the family's file. It
// knows its body, the bytes between header and checksum; Codecs.cpp does the rest.
#ifndef CGX_KERNELS_CPU_CODECFAMILY_H
#define CGX_KERNELS_CPU_CODECFAMILY_H

#include "cgx/codec.h"
#include "cgx/kernels/implementation.h"
#include "cgx/kernels/optimizer.h"
#include "cgx/kernels/payload.h"
#include "cgx/kernels/random.h"

namespace cgx {

/// How the elements to encode lie in memory. The last two are an accumulator that is
/// rounded to its element type on the way.
enum class Source { f32, f16, bf16, f32ToF16, f32ToBf16 };

/// Bytes of an element as it lies in memory.
constexpr uint64_t bytesOf(Source source) { return source == Source::f16 || source == Source::bf16 ? 2 : 4; }

/// How elements of a type lie in memory, and sums that become such elements.
constexpr Source sourceOf(cgx_element_type type) {
  return type == CGX_F16 ? Source::f16 : type == CGX_BF16 ? Source::bf16 : Source::f32;
}
constexpr Source sumSourceOf(cgx_element_type type) {
  return type == CGX_F16 ? Source::f32ToF16 : type == CGX_BF16 ? Source::f32ToBf16 : Source::f32;
}

struct EncodeArguments {
  const cgx_codec *codec;
  cgx_element_type type;
  Source source;
  const void *input;
  uint64_t elements; ///< not 0
  RandomKey key;
  uint64_t firstElement;                       ///< the first element's position in its tensor
  uint8_t *body;                               ///< with room for what cgx_payload_bytes() counts
  const OptimizerTensors *optimizer = nullptr; ///< where it is known
};

struct DecodeArguments {
  const cgx_codec *codec;
  cgx_element_type type;
  const uint8_t *body;
  uint64_t bodyBytes; ///< as many as the codec's bodies have, if these are of one size
  uint64_t elements;  ///< not 0
};

/// The loops over a body. Each instruction set may have its own, which give the same bits.
struct BodyKernels {
  /// Returns the bytes of the body.
  uint64_t (*encode)(const EncodeArguments &arguments);
  /// Any bytes may be given. Where a body is `malformed`, it must be seen before anything is written.
  DecodeError (*decode)(const DecodeArguments &arguments, void *output);
  DecodeError (*decodeAccumulate)(const DecodeArguments &arguments, float *accumulator);
};

/// What runs the bodies of a family that has payloads on an implementation.
const BodyKernels &bodyKernels(uint32_t family, const Implementation &with);

} // namespace cgx

#endif // CGX_KERNELS_CPU_CODECFAMILY_H
