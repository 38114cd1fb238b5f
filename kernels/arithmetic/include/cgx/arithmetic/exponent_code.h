//===-- exponent_code.h - The code of a payload's exponents -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An exponent code says which exponents have a code word, and which one. It is made from counts of the
// elements, written into the payload, and read from it; encoders and decoders make their lookup tables from
// it.
#ifndef CGX_ARITHMETIC_EXPONENT_CODE_H
#define CGX_ARITHMETIC_EXPONENT_CODE_H

#include "cgx/arithmetic/exponents.h"
#include "cgx/arithmetic/huffman.h"
#include "cgx/codec.h"

namespace cgx {

/// An exponent code. Symbol s from 2 on is exponent `first` + s - 2.
struct ExponentCode {
  uint32_t first = 0;
  uint32_t symbols = 0; ///< the two zeros included; 0 if there is no code
  HuffmanLengths lengths = {};
};

/// The number of elements in a run. Elements are counted in runs; if there are many, only every
/// exponentStride()-th run.
constexpr uint64_t exponentRun = 512;

CGX_DEVICE_INLINE uint64_t exponentStride(uint64_t elements) {
  constexpr uint64_t enough = 1u << 19;
  return elements <= enough ? 1 : elements / enough;
}

/// Counts of exponents, among them those of zeros, and counts of the two zeros.
struct ExponentCounts {
  std::array<uint32_t, 256> exponents;
  uint32_t zeros[zeroSymbols];
};

/// Chooses which exponents have symbols, and sets the counts of these. If only some elements were counted,
/// exponents that may occur among the others get symbols as well.
CGX_DEVICE_INLINE void chooseSymbols(ExponentCounts &counted, bool areAllCounted, ExponentCode &code,
                                     HuffmanCounts &counts) {
  counted.exponents[0] -= counted.zeros[0] + counted.zeros[1];
  uint32_t last = 0, least = 0;
  code.first = 0;
  code.symbols = 0;
  for (uint32_t e = 0; e < 256; ++e)
    if (counted.exponents[e] != 0) {
      code.first = code.symbols == 0 ? e : code.first;
      code.symbols = 1; // says that there are some; their number is set below
      last = e;
    }
  if (!areAllCounted) {
    constexpr uint32_t below = 8, above = 2;
    code.first = code.first < below ? 0 : code.first - below;
    last = last + above < 255 ? last + above : 255;
    least = 1;
  }
  const uint32_t wanted = zeroSymbols + last - code.first + 1;
  code.symbols = wanted < huffmanSymbols ? wanted : huffmanSymbols;
  for (uint32_t s = 0; s < huffmanSymbols; ++s) {
    uint32_t count = 0;
    if (s < code.symbols)
      count = s < zeroSymbols ? counted.zeros[s] : counted.exponents[code.first + s - zeroSymbols];
    counts[s] = s < code.symbols && count < least ? least : count;
  }
}

/// Returns the code for elements. `elementsAt(begin, count)` gives runs of them, which `counter` counts.
template <typename Counter, typename ElementsAt>
ExponentCode makeExponentCode(uint64_t elements, Counter &counter, const ElementsAt &elementsAt) {
  const uint64_t stride = exponentStride(elements);
  for (uint64_t begin = 0; begin < elements; begin += exponentRun * stride) {
    const auto count = uint32_t(std::min(exponentRun, elements - begin));
    counter.add(elementsAt(begin, count), count);
  }
  ExponentCounts counted = counter.counts();
  ExponentCode code;
  HuffmanCounts counts;
  chooseSymbols(counted, stride == 1, code, counts);
  code.lengths = huffmanLengths(counts);
  return code;
}

/// Returns the bytes of the table of a code with so many symbols.
constexpr uint64_t tableBytes(uint32_t symbols) { return (4 + (symbols + 1) / 2 + 7) / 8 * 8; }
static_assert(tableBytes(huffmanSymbols) == CGX_LOSSLESS_MOST_TABLE_BYTES);

/// Writes the first exponent, the number of symbols and four bits of length for each, filled up to a multiple
/// of 8 bytes.
CGX_DEVICE_INLINE void writeExponentCode(const ExponentCode &code, uint8_t *table) {
  const uint16_t header[2] = {uint16_t(code.first), uint16_t(code.symbols)};
  memcpy(table, header, sizeof header);
  const auto lengthOf = [&](uint32_t s) { return s < code.symbols ? code.lengths[s] : uint8_t(0); };
  for (uint32_t byte = 4; byte < tableBytes(code.symbols); ++byte)
    table[byte] = uint8_t(lengthOf(2 * (byte - 4)) | lengthOf(2 * (byte - 4) + 1) << 4);
}

/// Returns whether `bytes` bytes begin with the table of a code, and reads it into `code`.
CGX_DEVICE_INLINE bool readExponentCode(const uint8_t *table, uint64_t bytes, ExponentCode &code) {
  uint16_t header[2];
  if (bytes < sizeof header)
    return false;
  memcpy(header, table, sizeof header);
  code.first = header[0];
  code.symbols = header[1];
  if (code.symbols > huffmanSymbols || bytes < tableBytes(code.symbols) ||
      (code.symbols > zeroSymbols && code.first + code.symbols - zeroSymbols > 256))
    return false;
  for (uint32_t s = 0; s < huffmanSymbols; ++s) {
    code.lengths[s] = s < code.symbols ? (table[4 + s / 2] >> (s % 2 * 4)) & 0xf : 0;
    if (code.lengths[s] > huffmanMostBits)
      return false;
  }
  return isCompleteCode(code.lengths);
}

/// Code words by symbol: the code in the low 12 bits, its length above; 0 for symbols without a code.
using CodeWords = std::array<uint16_t, huffmanSymbols>;

inline CodeWords makeCodeWords(const ExponentCode &code) {
  CodeWords words = {};
  forEachCode(code.lengths, [&](uint32_t symbol, uint32_t length, uint32_t bits) {
    words[symbol] = uint16_t(length << 12 | bits);
  });
  return words;
}

/// Symbols by the next 11 bits of a stream: the symbol in the low 8 bits, the length of its code above.
using SymbolTable = std::array<uint16_t, huffmanTableSize>;

inline void makeSymbolTable(const ExponentCode &code, SymbolTable &table) {
  forEachCode(code.lengths, [&](uint32_t symbol, uint32_t length, uint32_t bits) {
    for (uint32_t i = bits; i < huffmanTableSize; i += 1u << length)
      table[i] = uint16_t(length << 8 | symbol);
  });
}

} // namespace cgx

#endif // CGX_ARITHMETIC_EXPONENT_CODE_H
