//===-- quantize_sections.h - The body of a quantize payload ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the arguments of the loops of `quantize`: its body is cut into sections.
#ifndef CGX_ARITHMETIC_QUANTIZE_SECTIONS_H
#define CGX_ARITHMETIC_QUANTIZE_SECTIONS_H

#include "cgx/arithmetic/elements.h"
#include "cgx/arithmetic/random.h"

namespace cgx {

struct QuantizeEncodeArguments {
  const cgx_codec *codec;
  Source source;
  const void *input;
  uint64_t elements;
  RandomKey key;
  uint64_t firstElement;
  uint8_t *table; ///< the table of learned levels
  uint8_t *scales;
  uint8_t *levels;
  const float *given = nullptr; ///< learned levels that are known, in place of a table that is fitted
};

struct QuantizeDecodeArguments {
  const cgx_codec *codec;
  const uint8_t *table;
  const uint8_t *scales;
  const uint8_t *levels;
  uint64_t elements;
};

inline uint64_t levelBytes(const cgx_codec &codec, uint64_t elements) {
  return (elements * codec.bits + 7) / 8;
}

inline uint64_t tableBytes(const cgx_codec &codec) {
  return codec.levels == CGX_LEVELS_LEARNED ? 4ull << codec.bits : 0;
}

/// Returns the bytes before the levels.
inline uint64_t levelsOffset(const cgx_codec &codec, uint64_t elements) {
  return cgx_quantize_body_bytes(&codec, elements) - levelBytes(codec, elements);
}

} // namespace cgx

#endif // CGX_ARITHMETIC_QUANTIZE_SECTIONS_H
