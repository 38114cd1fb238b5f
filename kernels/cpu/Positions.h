//===-- kernels/cpu/Positions.h - Positions of elements sent ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions are stored in rising order, in as many bytes as cgx_position_bytes() says, as a bitmap or by
// Elias-Fano coding. The latter splits position i into its lowest bits, which are packed one after the other,
// and the number `high` above them, for which bit `high + i` of a bit vector is set.
#ifndef CGX_KERNELS_CPU_POSITIONS_H
#define CGX_KERNELS_CPU_POSITIONS_H

#include "cgx/arithmetic/bit_plane.h"
#include "cgx/codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cgx {

class PositionsWriter {
public:
  PositionsWriter(uint64_t elements, uint64_t count, uint8_t *bytes)
      : isBitmap(cgx_positions_are_bitmap(elements, count)), lowBits(cgx_position_low_bits(elements, count)),
        low(bytes), high(isBitmap ? bytes : bytes + cgx_position_low_bytes(elements, count)) {
    std::memset(bytes, 0, cgx_position_bytes(elements, count));
  }

  void add(uint64_t position) {
    if (isBitmap)
      return setBit(high, position, true);
    putLow(uint32_t(position), std::min(lowBits, 32u));
    if (lowBits > 32)
      putLow(uint32_t(position >> 32), lowBits - 32);
    setBit(high, (position >> lowBits) + written, true);
    ++written;
  }

  /// Writes the bits that still wait, after the last position.
  void finish() { std::memcpy(low, &waiting, (waitingBits + 7) / 8); }

private:
  /// Appends the lowest `bits` bits of a value, at most 32.
  void putLow(uint32_t value, uint32_t bits) {
    waiting |= (value & ((uint64_t(1) << bits) - 1)) << waitingBits;
    waitingBits += bits;
    if (waitingBits < 32)
      return;
    const auto word = uint32_t(waiting);
    std::memcpy(low, &word, sizeof word);
    low += sizeof word;
    waiting >>= 32;
    waitingBits -= 32;
  }

  bool isBitmap;
  uint32_t lowBits;
  uint8_t *low; ///< where the next word of lowest bits goes; bits of an incomplete word wait
  uint8_t *high;
  uint64_t waiting = 0;
  uint32_t waitingBits = 0; ///< fewer than 32 between calls
  uint64_t written = 0;
};

class PositionsReader {
public:
  PositionsReader(uint64_t elements, uint64_t count, const uint8_t *bytes)
      : elements(elements), count(count), isBitmap(cgx_positions_are_bitmap(elements, count)),
        lowBits(cgx_position_low_bits(elements, count)), low(bytes),
        lowBytes(isBitmap ? 0 : cgx_position_low_bytes(elements, count)), high(bytes + lowBytes),
        highBits(isBitmap ? elements : cgx_position_high_bits(elements, count)) {}

  /// Returns whether these are `count` positions of `elements` elements in rising order, as a writer leaves
  /// them.
  bool isWellFormed() const {
    uint64_t found = 0, next = 0;
    bool rising = true;
    forEachBit([&](uint64_t bit) {
      const uint64_t position = positionOf(found, bit);
      rising &= found < count && position >= next && position < elements;
      next = position + 1;
      ++found;
    });
    return rising && found == count;
  }

  /// Calls take(i, position) for each. The positions must be well formed.
  template <typename Take> void forEach(const Take &take) const {
    uint64_t found = 0;
    forEachBit([&](uint64_t bit) {
      take(found, positionOf(found, bit));
      ++found;
    });
  }

private:
  uint64_t positionOf(uint64_t i, uint64_t bit) const {
    if (isBitmap)
      return bit;
    return ((bit - i) << lowBits) | loadLow(i);
  }

  uint64_t loadLow(uint64_t i) const {
    const uint64_t begin = i * lowBits;
    uint64_t value = 0;
    if (i < count && begin / 8 + sizeof value <= lowBytes && lowBits <= 56) {
      std::memcpy(&value, low + begin / 8, sizeof value);
      return (value >> begin % 8) & ((uint64_t(1) << lowBits) - 1);
    }
    if (i < count)
      for (uint32_t bit = 0; bit < lowBits; ++bit)
        value |= uint64_t(loadBit(low, begin + bit)) << bit;
    return value;
  }

  /// Calls take(bit) for every bit that is set. This includes bits of the last byte past the end, which a
  /// writer leaves 0.
  template <typename Take> void forEachBit(const Take &take) const {
    const uint64_t bytes = planeBytes(highBits);
    uint64_t byte = 0;
    for (; byte + 8 <= bytes; byte += 8) {
      uint64_t word;
      std::memcpy(&word, high + byte, 8);
      for (; word != 0; word &= word - 1)
        take(byte * 8 + uint64_t(std::countr_zero(word)));
    }
    for (; byte < bytes; ++byte)
      for (uint32_t word = high[byte]; word != 0; word &= word - 1)
        take(byte * 8 + uint64_t(std::countr_zero(word)));
  }

  uint64_t elements, count;
  bool isBitmap;
  uint32_t lowBits;
  const uint8_t *low;
  uint64_t lowBytes;
  const uint8_t *high;
  uint64_t highBits;
};

} // namespace cgx

#endif // CGX_KERNELS_CPU_POSITIONS_H
