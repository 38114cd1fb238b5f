//===-- QuantizeKernels.h - What an implementation provides -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sections of a `quantize` payload, without envelope: what each implementation
// writes its own loops for.
#ifndef CGX_KERNELS_CPU_QUANTIZEKERNELS_H
#define CGX_KERNELS_CPU_QUANTIZEKERNELS_H

#include "cgx/codec.h"
#include "cgx/kernels/random.h"

namespace cgx {

/// How the elements to encode lie in memory. The last two are an accumulator that is
/// rounded to its element type on the way.
enum class Source { f32, f16, bf16, f32ToF16, f32ToBf16 };

/// Bytes of an element as it lies in memory.
constexpr uint64_t bytesOf(Source source) { return source == Source::f16 || source == Source::bf16 ? 2 : 4; }

struct QuantizeEncodeArguments {
  const cgx_codec *codec;
  Source source;
  const void *input;
  uint64_t elements;
  RandomKey key;
  uint64_t firstElement;
  uint8_t *scales;
  uint8_t *levels;
};

struct QuantizeDecodeArguments {
  const cgx_codec *codec;
  const uint8_t *scales;
  const uint8_t *levels;
  uint64_t elements;
};

struct QuantizeKernels {
  void (*encode)(const QuantizeEncodeArguments &arguments);
  void (*decode)(const QuantizeDecodeArguments &arguments, cgx_element_type type, void *output);
  void (*decodeAccumulate)(const QuantizeDecodeArguments &arguments, float *accumulator);
};

} // namespace cgx

#endif // CGX_KERNELS_CPU_QUANTIZEKERNELS_H
