//===-- strata.h - Elements at random places --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file draws the positions of randk. The elements are cut into as many strata as elements are sent,
// equal to one element, and one position is drawn from each. So positions rise and differ without a search,
// every element has the same chance up to the rounding of strata, and each position can be computed alone.
#ifndef CGX_ARITHMETIC_STRATA_H
#define CGX_ARITHMETIC_STRATA_H

#include "cgx/arithmetic/random.h"

namespace cgx {

/// Returns position `i` of `count` among `elements` elements, fewer than 2^32.
CGX_DEVICE_INLINE uint64_t drawPosition(RandomStream stream, uint64_t elements, uint64_t count, uint64_t i) {
  const uint64_t begin = i * elements / count, size = (i + 1) * elements / count - begin;
  return begin + ((uint64_t(randomWord(stream, uint32_t(i))) * size) >> 32);
}

} // namespace cgx

#endif // CGX_ARITHMETIC_STRATA_H
