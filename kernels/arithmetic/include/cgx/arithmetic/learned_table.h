//===-- learned_table.h - Levels fitted to the elements of a payload --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_ARITHMETIC_LEARNED_TABLE_H
#define CGX_ARITHMETIC_LEARNED_TABLE_H

#include "cgx/arithmetic/elements.h"
#include "cgx/arithmetic/levels.h"
#include "cgx/arithmetic/quantize_sections.h"
#include "cgx/arithmetic/scale_section.h"

#include <cstring>

namespace cgx {

constexpr uint32_t maxTableLevels = 256;

/// The most elements that levels are learned from.
constexpr uint64_t learnedElements = 4096;

/// Fills a table with the levels that are given, or else fits it to the elements of the payload, whose scales
/// must be stored already.
inline void learnTable(const QuantizeEncodeArguments &arguments, float *table) {
  const cgx_codec &codec = *arguments.codec;
  const uint32_t levels = 1u << codec.bits;
  if (arguments.given) {
    std::memcpy(table, arguments.given, levels * sizeof *table);
    return;
  }
  for (uint32_t level = 0; level < levels; ++level)
    table[level] = float(level) / float(levels - 1);
  const uint64_t stride = arguments.elements / learnedElements + 1;
  for (uint64_t i = 0; i < arguments.elements; i += stride) {
    const BucketScale range = loadScale(arguments.scales, codec, i / codec.bucket);
    if (isFiniteScale(range))
      learnFrom(table, levels, shareOfRange(range, loadElement(arguments.source, arguments.input, i)));
  }
}

} // namespace cgx

#endif // CGX_ARITHMETIC_LEARNED_TABLE_H
