//===-- CodecFamily.h - The interface of a codec family ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each family has one object, declared by the table of families and defined in the family's file. It handles
// the body, which is the bytes between header and checksum; Codecs.cpp handles the rest.
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
  uint8_t *body;                               ///< has space for what cgx_payload_bytes() counts
  const OptimizerTensors *optimizer = nullptr; ///< null if it is not known
  const float *levels = nullptr;               ///< learned levels of quantize; null if they are to be fitted
};

struct DecodeArguments {
  const cgx_codec *codec;
  cgx_element_type type;
  const uint8_t *body;
  uint64_t bodyBytes; ///< checked already for codecs whose bodies have one size
  uint64_t elements;  ///< not 0
};

/// The loops over a body. Each instruction set may have its own, which must give the same bits.
struct BodyKernels {
  /// Writes the body and returns its bytes.
  uint64_t (*encode)(const EncodeArguments &arguments);
  /// Decodes any bytes. A body that is `malformed` must be rejected before anything is written.
  DecodeError (*decode)(const DecodeArguments &arguments, void *output);
  DecodeError (*decodeAccumulate)(const DecodeArguments &arguments, float *accumulator);
};

/// Returns the loops of a family that has payloads, for an implementation.
const BodyKernels &bodyKernels(uint32_t family, const Implementation &with);

} // namespace cgx

#endif // CGX_KERNELS_CPU_CODECFAMILY_H
