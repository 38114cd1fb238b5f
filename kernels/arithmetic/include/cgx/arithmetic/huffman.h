//===-- huffman.h - Prefix codes for bytes ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is a canonical Huffman code of at most 11 bits a symbol: the lengths determine the codes. Codes are
// written with their first bit lowest, so they are stored reversed; then the next bits of a stream are the
// index into a table.
#ifndef CGX_ARITHMETIC_HUFFMAN_H
#define CGX_ARITHMETIC_HUFFMAN_H

#include "cgx/arithmetic/device.h"

#include <algorithm>
#include <array>

namespace cgx {

constexpr uint32_t huffmanSymbols = 256;
constexpr uint32_t huffmanMostBits = 11;
constexpr uint32_t huffmanTableSize = 1u << huffmanMostBits;

using HuffmanCounts = std::array<uint32_t, huffmanSymbols>;
/// The bits of each symbol's code; 0 for symbols without a code.
using HuffmanLengths = std::array<uint8_t, huffmanSymbols>;

/// The symbols that occur, by rising counts.
using HuffmanOrder = std::array<uint16_t, huffmanSymbols>;

/// Returns whether symbol a comes before symbol b in that order.
CGX_DEVICE_INLINE bool isRarer(const HuffmanCounts &counts, uint32_t a, uint32_t b) {
  return counts[a] != counts[b] ? counts[a] < counts[b] : a < b;
}

/// The nodes of a tree: leaves first, then inner nodes in rising order of their weights.
struct HuffmanTree {
  std::array<uint32_t, 2 * huffmanSymbols> weight;
  std::array<uint16_t, 2 * huffmanSymbols> parent;
  std::array<uint8_t, 2 * huffmanSymbols> depth;
};

/// Sets the bits of a Huffman code for each of order[0..used), at least two symbols, and returns the most of
/// them. Sums of counts must fit into 32 bits. `tree` is workspace.
CGX_DEVICE_INLINE uint32_t huffmanDepths(const HuffmanCounts &counts, const HuffmanOrder &order,
                                         uint32_t used, HuffmanLengths &lengths, HuffmanTree &tree) {
  for (uint32_t i = 0; i < used; ++i)
    tree.weight[i] = counts[order[i]];
  uint32_t leaf = 0, inner = used, nodes = used;
  const auto lightest = [&] {
    const bool isLeaf = leaf < used && (inner == nodes || tree.weight[leaf] <= tree.weight[inner]);
    return isLeaf ? leaf++ : inner++;
  };
  for (; nodes < 2 * used - 1; ++nodes) {
    const uint32_t a = lightest(), b = lightest();
    tree.weight[nodes] = tree.weight[a] + tree.weight[b];
    tree.parent[a] = tree.parent[b] = uint16_t(nodes);
  }
  uint32_t longest = 0;
  tree.depth[nodes - 1] = 0;
  for (uint32_t node = nodes - 1; node-- > 0;) {
    tree.depth[node] = uint8_t(tree.depth[tree.parent[node]] + 1);
    longest = tree.depth[node] > longest ? tree.depth[node] : longest;
  }
  for (uint32_t i = 0; i < used; ++i)
    lengths[order[i]] = tree.depth[i];
  return longest;
}

/// Sets the lengths if only one symbol occurs: it shares the code with one of the first two.
CGX_DEVICE_INLINE void setLengthsOfOne(uint32_t symbol, HuffmanLengths &lengths) {
  lengths[symbol] = lengths[symbol == 0 ? 1 : 0] = 1;
}

/// Halves the counts after a code came out too long. That brings rare symbols closer to frequent ones.
CGX_DEVICE_INLINE void halveCounts(HuffmanCounts &counts, const HuffmanOrder &order, uint32_t used) {
  for (uint32_t i = 0; i < used; ++i)
    counts[order[i]] = (counts[order[i]] >> 1) | 1;
}

/// Returns the lengths of an optimal code for symbols with these counts. While a code is longer than 11 bits,
/// the counts are halved, which makes it less than optimal. At least one symbol must occur.
inline HuffmanLengths huffmanLengths(HuffmanCounts counts) {
  HuffmanLengths lengths = {};
  HuffmanOrder order;
  uint32_t used = 0;
  for (uint32_t symbol = 0; symbol < huffmanSymbols; ++symbol)
    if (counts[symbol] != 0)
      order[used++] = uint16_t(symbol);
  if (used == 1) {
    setLengthsOfOne(order[0], lengths);
    return lengths;
  }
  HuffmanTree tree;
  for (;;) {
    std::sort(order.begin(), order.begin() + used,
              [&](uint16_t a, uint16_t b) { return isRarer(counts, a, b); });
    if (huffmanDepths(counts, order, used, lengths, tree) <= huffmanMostBits)
      return lengths;
    halveCounts(counts, order, used);
  }
}

/// Returns whether every sequence of bits is a sequence of codes of these lengths, which are at most 11.
CGX_DEVICE_INLINE bool isCompleteCode(const HuffmanLengths &lengths) {
  uint32_t taken = 0;
  for (uint32_t symbol = 0; symbol < huffmanSymbols; ++symbol)
    taken += lengths[symbol] == 0 ? 0 : huffmanTableSize >> lengths[symbol];
  return taken == huffmanTableSize;
}

/// Returns a code as it is written, with its highest bit first.
CGX_DEVICE_INLINE uint32_t turnedCode(uint32_t code, uint32_t length) {
  uint32_t turned = 0;
  for (uint32_t bit = 0; bit < length; ++bit)
    turned |= ((code >> bit) & 1) << (length - 1 - bit);
  return turned;
}

/// Calls assign(symbol, length, code) for every symbol that has a code, with the code as it is written.
template <typename Assign> void forEachCode(const HuffmanLengths &lengths, const Assign &assign) {
  uint32_t next = 0;
  for (uint32_t length = 1; length <= huffmanMostBits; ++length, next <<= 1)
    for (uint32_t symbol = 0; symbol < huffmanSymbols; ++symbol)
      if (lengths[symbol] == length)
        assign(symbol, length, turnedCode(next++, length));
}

/// Returns the code of one symbol that has one, without making all others. Each code before it takes
/// 2^(difference in length) codes of its length.
CGX_DEVICE_INLINE uint32_t codeOf(const HuffmanLengths &lengths, uint32_t symbol) {
  const uint32_t own = lengths[symbol];
  uint32_t code = 0;
  for (uint32_t other = 0; other < huffmanSymbols; ++other) {
    const uint32_t length = lengths[other];
    if (length != 0 && (length < own || (length == own && other < symbol)))
      code += 1u << (own - length);
  }
  return turnedCode(code, own);
}

} // namespace cgx

#endif // CGX_ARITHMETIC_HUFFMAN_H
