//===-- packing.h - The layout of packed levels -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Levels are packed in blocks of 32 columns. A block has as many rows of 32 elements as make whole 16-bit
// words: 16 / gcd(16, bits). Column c of a row holds element (c / 2) + 16 * (c % 2), and the levels of one
// column follow one another in the 16-bit words of that column, lowest bits first; word k of all columns is
// 64 contiguous bytes. So two vectors of 16 elements, merged into the halves of 32-bit lanes, are shifted
// into place and stored without any exchange between lanes.
//
//   4 bits, block of 128 elements, word of column 0:   e96 | e64 | e32 | e0
//                                      of column 1:   e112 | e80 | e48 | e16
//
// Elements after the last whole block are packed densely in order.
#ifndef CGX_ARITHMETIC_PACKING_H
#define CGX_ARITHMETIC_PACKING_H

#include "cgx/arithmetic/device.h"

namespace cgx {

constexpr uint32_t packingColumns = 32;

/// Returns the rows of a block: the least number that makes whole words.
CGX_DEVICE_INLINE constexpr uint32_t packingRows(uint32_t bits) {
  return bits % 2 ? 16 : bits == 2 || bits == 6 ? 8 : bits == 4 ? 4 : 2;
}

CGX_DEVICE_INLINE constexpr uint32_t packingBlockElements(uint32_t bits) {
  return packingColumns * packingRows(bits);
}

CGX_DEVICE_INLINE constexpr uint32_t packingBlockBytes(uint32_t bits) {
  return packingBlockElements(bits) / 8 * bits;
}

/// The place of a level: its bits are at `byte` from bit `shift` up, in little-endian order. Bits that do not
/// fit into the word of `wordBits` bits go on at `nextByte`, from bit 0.
struct LevelPlace {
  uint64_t byte;
  uint64_t nextByte;
  uint32_t shift;
  uint32_t wordBits;
};

CGX_DEVICE_INLINE LevelPlace levelPlace(uint32_t bits, uint64_t elements, uint64_t index) {
  const uint64_t blockElements = packingBlockElements(bits);
  const uint64_t block = index / blockElements;
  const uint64_t base = block * packingBlockBytes(bits);
  if (block < elements / blockElements) {
    const uint32_t inBlock = uint32_t(index % blockElements);
    const uint32_t inRow = inBlock % packingColumns;
    const uint32_t column = (inRow % 16) * 2 + inRow / 16;
    const uint32_t bit = inBlock / packingColumns * bits;
    const uint64_t byte = base + bit / 16 * 64 + column * 2;
    return LevelPlace{byte, byte + 64, bit % 16, 16};
  }
  const uint64_t bit = (index - block * blockElements) * bits;
  return LevelPlace{base + bit / 8, base + bit / 8 + 1, uint32_t(bit % 8), 8};
}

/// Writes a level into bytes that were zero before the first level was written.
CGX_DEVICE_INLINE void storeLevel(uint8_t *bytes, uint32_t bits, LevelPlace place, uint32_t level) {
  uint32_t first = level << place.shift;
  bytes[place.byte] |= uint8_t(first);
  if (place.wordBits == 16)
    bytes[place.byte + 1] |= uint8_t(first >> 8);
  if (place.shift + bits > place.wordBits)
    bytes[place.nextByte] |= uint8_t(level >> (place.wordBits - place.shift));
}

CGX_DEVICE_INLINE uint32_t loadLevel(const uint8_t *bytes, uint32_t bits, LevelPlace place) {
  uint32_t word = bytes[place.byte];
  if (place.wordBits == 16)
    word |= uint32_t(bytes[place.byte + 1]) << 8;
  uint32_t level = word >> place.shift;
  if (place.shift + bits > place.wordBits)
    level |= uint32_t(bytes[place.nextByte]) << (place.wordBits - place.shift);
  return level & ((1u << bits) - 1u);
}

} // namespace cgx

#endif // CGX_ARITHMETIC_PACKING_H
