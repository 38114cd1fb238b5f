//===-- exponents.h - Elements as exponents and the rest --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bits of an element stand for themselves in f32; those of 16-bit types are the upper half of 32. Eight bits
// below the sign are its exponent (of an f16, five of exponent and three of the mantissa, which is as good):
// few of them are frequent, and entropy coding makes them short. What is left looks like noise: the sign and
// seven bits in a byte, and of an f32 the 16 bits below.
//
// Symbols: 0 and 1 are the two zeros, which have nothing else; 2 + k is exponent `first` + k.
#ifndef CGX_ARITHMETIC_EXPONENTS_H
#define CGX_ARITHMETIC_EXPONENTS_H

#include "cgx/arithmetic/device.h"

namespace cgx {

constexpr uint32_t zeroSymbols = 2;

CGX_DEVICE_INLINE bool isZeroBits(uint32_t bits) { return (bits << 1) == 0; }

CGX_DEVICE_INLINE uint32_t exponentOf(uint32_t bits) { return (bits >> 23) & 0xff; }

/// The symbol of an element; above all symbols if its exponent is below `first`.
CGX_DEVICE_INLINE uint32_t symbolOf(uint32_t bits, uint32_t first) {
  if (isZeroBits(bits))
    return bits >> 31;
  const uint32_t exponent = exponentOf(bits);
  return exponent < first ? ~0u : zeroSymbols + exponent - first;
}

/// The sign, and the highest seven bits below the exponent.
CGX_DEVICE_INLINE uint32_t restOf(uint32_t bits) { return ((bits >> 24) & 0x80) | ((bits >> 16) & 0x7f); }

CGX_DEVICE_INLINE uint32_t elementBits(uint32_t exponent, uint32_t rest, uint32_t low) {
  return (rest & 0x80) << 24 | exponent << 23 | (rest & 0x7f) << 16 | low;
}

CGX_DEVICE_INLINE uint32_t zeroBits(uint32_t symbol) { return symbol << 31; }

} // namespace cgx

#endif // CGX_ARITHMETIC_EXPONENTS_H
