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

#include "cgx/arithmetic/elements.h"
#include "cgx/arithmetic/random.h"
#include "cgx/kernels/implementation.h"
#include "cgx/kernels/optimizer.h"
#include "cgx/kernels/payload.h"

namespace cgx {

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
  const float *levels = nullptr;               ///< of a quantize with learned levels, where they are known
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
