//===-- hadamard.h - Rotations of blocks ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Hadamard transform of elements with random signs makes any block nearly bell-shaped: it spreads a few
// large elements among small ones, for which evenly spaced levels are poor, over the whole block. It is a
// rotation, so the inverse keeps the size of encoding errors. Additions and products are in f32, in the order
// written here, so every machine gives the same bits.
#ifndef CGX_ARITHMETIC_HADAMARD_H
#define CGX_ARITHMETIC_HADAMARD_H

#include "cgx/arithmetic/random.h"

#include <cmath>

namespace cgx {

/// The elements of the largest block. The rest of a payload is cut into ever smaller powers of two.
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

/// Replaces pairs at distance 1, 2, 4, ... by their sum and difference. It is its own inverse up to a factor
/// of `length`.
inline void transformBlock(float *x, uint64_t length) {
  for (uint64_t distance = 1; distance < length; distance *= 2)
    for (uint64_t begin = 0; begin < length; begin += 2 * distance)
      for (uint64_t i = begin; i < begin + distance; ++i) {
        const float a = x[i], b = x[i + distance];
        x[i] = a + b;
        x[i + distance] = a - b;
      }
}

/// Multiplies each element by a sign drawn from a seed, and by a factor of the block.
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

/// Undoes rotate().
inline void rotateBack(float *x, uint64_t elements, uint64_t seed) {
  forEachRotatedBlock(elements, [&](uint64_t begin, uint64_t length) {
    transformBlock(x + begin, length);
    multiplyBySigns(x, begin, length, seed, 1.0f / std::sqrt(float(length)));
  });
}

} // namespace cgx

#endif // CGX_ARITHMETIC_HADAMARD_H
