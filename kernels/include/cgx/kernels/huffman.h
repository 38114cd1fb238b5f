//===-- huffman.h - Prefix codes for bytes ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A canonical Huffman code of at most 11 bits a symbol: the lengths say all. Codes are written lowest bit
// first, and are turned round for that, so that the next bits of a stream are the index of a table.
#ifndef CGX_KERNELS_HUFFMAN_H
#define CGX_KERNELS_HUFFMAN_H

#include <algorithm>
#include <array>
#include <cstdint>

namespace cgx {

constexpr uint32_t huffmanSymbols = 256;
constexpr uint32_t huffmanMostBits = 11;
constexpr uint32_t huffmanTableSize = 1u << huffmanMostBits;

using HuffmanCounts = std::array<uint32_t, huffmanSymbols>;
/// Bits of each symbol; 0 for those that have no code.
using HuffmanLengths = std::array<uint8_t, huffmanSymbols>;

/// The bits that a Huffman code has for each of order[0..used), at least two symbols in rising order of their
/// counts, and the most of them. Sums of counts fit into 32 bits.
inline uint32_t huffmanDepths(const HuffmanCounts &counts, const std::array<uint16_t, huffmanSymbols> &order,
                              uint32_t used, HuffmanLengths &lengths) {
  // Nodes [0, used) are leaves. The tree is built of two queues, of leaves and of inner nodes, both of which
  // are in rising order.
  std::array<uint32_t, 2 * huffmanSymbols> weight;
  std::array<uint16_t, 2 * huffmanSymbols> parent;
  std::array<uint8_t, 2 * huffmanSymbols> depth;
  for (uint32_t i = 0; i < used; ++i)
    weight[i] = counts[order[i]];
  uint32_t leaf = 0, inner = used, nodes = used;
  const auto lightest = [&] {
    return leaf < used && (inner == nodes || weight[leaf] <= weight[inner]) ? leaf++ : inner++;
  };
  for (; nodes < 2 * used - 1; ++nodes) {
    const uint32_t a = lightest(), b = lightest();
    weight[nodes] = weight[a] + weight[b];
    parent[a] = parent[b] = uint16_t(nodes);
  }
  uint32_t longest = 0;
  depth[nodes - 1] = 0;
  for (uint32_t node = nodes - 1; node-- > 0;) {
    depth[node] = uint8_t(depth[parent[node]] + 1);
    longest = std::max<uint32_t>(longest, depth[node]);
  }
  for (uint32_t i = 0; i < used; ++i)
    lengths[order[i]] = depth[i];
  return longest;
}

/// The lengths of an optimal code for symbols that occur as often as `counts` say, were it not for the limit
/// of 11 bits: while a code is longer, counts are halved, so that the rare ones come closer together. At
/// least one symbol occurs; where it is alone, one of the first two shares the code with it.
inline HuffmanLengths huffmanLengths(HuffmanCounts counts) {
  HuffmanLengths lengths = {};
  std::array<uint16_t, huffmanSymbols> order;
  uint32_t used = 0;
  for (uint32_t symbol = 0; symbol < huffmanSymbols; ++symbol)
    if (counts[symbol] != 0)
      order[used++] = uint16_t(symbol);
  if (used == 1) {
    lengths[order[0]] = lengths[order[0] == 0 ? 1 : 0] = 1;
    return lengths;
  }
  for (;;) {
    std::sort(order.begin(), order.begin() + used,
              [&](uint16_t a, uint16_t b) { return counts[a] != counts[b] ? counts[a] < counts[b] : a < b; });
    if (huffmanDepths(counts, order, used, lengths) <= huffmanMostBits)
      return lengths;
    for (uint32_t i = 0; i < used; ++i)
      counts[order[i]] = (counts[order[i]] >> 1) | 1;
  }
}

/// Whether every sequence of bits is a sequence of codes of these lengths, which are at most 11.
inline bool isCompleteCode(const HuffmanLengths &lengths) {
  uint32_t taken = 0;
  for (uint8_t length : lengths)
    taken += length == 0 ? 0 : huffmanTableSize >> length;
  return taken == huffmanTableSize;
}

/// Calls assign(symbol, length, code) for every symbol that has a code, code as it is written.
template <typename Assign> void forEachCode(const HuffmanLengths &lengths, const Assign &assign) {
  uint32_t next = 0;
  for (uint32_t length = 1; length <= huffmanMostBits; ++length, next <<= 1)
    for (uint32_t symbol = 0; symbol < huffmanSymbols; ++symbol)
      if (lengths[symbol] == length) {
        uint32_t turned = 0;
        for (uint32_t bit = 0; bit < length; ++bit)
          turned |= ((next >> bit) & 1) << (length - 1 - bit);
        assign(symbol, length, turned);
        ++next;
      }
}

} // namespace cgx

#endif // CGX_KERNELS_HUFFMAN_H
