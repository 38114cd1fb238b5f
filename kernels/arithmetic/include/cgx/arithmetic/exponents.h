//===-- exponents.h - Elements as exponent and rest -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element is handled as 32 bits: an f32 as it is, a 16-bit element as their upper half. The eight bits
// below the sign are its exponent. (For f16 they are five of exponent and three of mantissa, which serves as
// well.) Few exponents are frequent, so entropy coding makes them short. The other bits look like noise and
// are stored uncompressed: the sign and the next seven bits in a byte, the `rest`, and for f32 the 16 bits
// below, the `low`.
//
// Symbols 0 and 1 are the two zeros, which have no other bits. Symbol 2 + k is exponent `first` + k.
#ifndef CGX_ARITHMETIC_EXPONENTS_H
#define CGX_ARITHMETIC_EXPONENTS_H

#include "cgx/arithmetic/device.h"

namespace cgx {

constexpr uint32_t zeroSymbols = 2;

CGX_DEVICE_INLINE bool isZeroBits(uint32_t bits) { return (bits << 1) == 0; }

CGX_DEVICE_INLINE uint32_t exponentOf(uint32_t bits) { return (bits >> 23) & 0xff; }

/// Returns the symbol of an element. If its exponent is below `first`, the result is above all symbols.
CGX_DEVICE_INLINE uint32_t symbolOf(uint32_t bits, uint32_t first) {
  if (isZeroBits(bits))
    return bits >> 31;
  const uint32_t exponent = exponentOf(bits);
  return exponent < first ? ~0u : zeroSymbols + exponent - first;
}

/// Returns the sign and the highest seven bits below the exponent.
CGX_DEVICE_INLINE uint32_t restOf(uint32_t bits) { return ((bits >> 24) & 0x80) | ((bits >> 16) & 0x7f); }

CGX_DEVICE_INLINE uint32_t elementBits(uint32_t exponent, uint32_t rest, uint32_t low) {
  return (rest & 0x80) << 24 | exponent << 23 | (rest & 0x7f) << 16 | low;
}

CGX_DEVICE_INLINE uint32_t zeroBits(uint32_t symbol) { return symbol << 31; }

} // namespace cgx

#endif // CGX_ARITHMETIC_EXPONENTS_H
