//===-- checksum.h - The checksum of a payload ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checksum is a sum of mixed words, modulo 2^64. Word i of the bytes (8 bytes, little-endian, the last
// one filled up with zeros) is mixed with its position by a bijection, so damage within one word is always
// seen, and other damage with probability 1 - 2^-64. It is a sum so that threads and GPUs can take the words
// in any order.
#ifndef CGX_ARITHMETIC_CHECKSUM_H
#define CGX_ARITHMETIC_CHECKSUM_H

#include "cgx/arithmetic/device.h"

namespace cgx {

/// Returns the term that word `position - 1` of the bytes adds to the sum.
CGX_DEVICE_INLINE uint64_t mixChecksumWord(uint64_t word, uint64_t position) {
  const uint64_t x = (word ^ (position * 0x9e3779b97f4a7c15ull)) * 0xbf58476d1ce4e5b9ull;
  return (x ^ (x >> 32)) * 0x94d049bb133111ebull;
}

uint64_t checksum(const void *data, uint64_t bytes);

} // namespace cgx

#endif // CGX_ARITHMETIC_CHECKSUM_H
