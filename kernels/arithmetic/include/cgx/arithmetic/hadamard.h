//===-- hadamard.h - Rotations of blocks ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Hadamard transform of elements with random signs makes any block nearly bell-shaped: a few large
// elements among small ones, of which even levels keep little, are spread over all. It is a rotation, so that
// what encoding gets wrong of the block is as large after the inverse. Additions and products in f32, in the
// order that is written here: the same bits on every machine.
#ifndef CGX_ARITHMETIC_HADAMARD_H
#define CGX_ARITHMETIC_HADAMARD_H

#include "cgx/arithmetic/random.h"

#include <cmath>

namespace cgx {

/// The largest block; the rest of a payload is cut into ever smaller powers of two.
constexpr uint64_t rotatedBlockElements = 1024;

/// Calls visit(begin, length) for the blocks of a payload.
template <typename Visit> void forEachRotatedBlock(uint64_t elements, const Visit &visit) {
  uint64_t length = rotatedBlockElements;
  for (uint64_t begin = 0; begin < elements; begin += length) {
    while (length > elements - begin)
      length /= 2;
    visit(begin, length);
  }
}

/// Sums and differences of all pairs at distance 1, 2, 4, ...: its own inverse but for a factor of `length`.
inline void transformBlock(float *x, uint64_t length) {
  for (uint64_t distance = 1; distance < length; distance *= 2)
    for (uint64_t begin = 0; begin < length; begin += 2 * distance)
      for (uint64_t i = begin; i < begin + distance; ++i) {
        const float a = x[i], b = x[i + distance];
        x[i] = a + b;
        x[i + distance] = a - b;
      }
}

/// Multiplies by the sign that a seed draws for each element, and by a factor of the block.
inline void multiplyBySigns(float *x, uint64_t begin, uint64_t length, uint64_t seed, float factor) {
  for (uint64_t i = 0; i < length; ++i) {
    const uint64_t element = begin + i;
    const uint64_t signs = mixBits(seed + (element / 64 + 1) * 0x9e3779b97f4a7c15ull);
    x[element] *= (signs >> (element % 64) & 1) != 0 ? -factor : factor;
  }
}

/// Rotates the elements of a payload in place.
inline void rotate(float *x, uint64_t elements, uint64_t seed) {
  forEachRotatedBlock(elements, [&](uint64_t begin, uint64_t length) {
    multiplyBySigns(x, begin, length, seed, 1.0f / std::sqrt(float(length)));
    transformBlock(x + begin, length);
  });
}

/// The inverse.
inline void rotateBack(float *x, uint64_t elements, uint64_t seed) {
  forEachRotatedBlock(elements, [&](uint64_t begin, uint64_t length) {
    transformBlock(x + begin, length);
    multiplyBySigns(x, begin, length, seed, 1.0f / std::sqrt(float(length)));
  });
}

} // namespace cgx

#endif // CGX_ARITHMETIC_HADAMARD_H
