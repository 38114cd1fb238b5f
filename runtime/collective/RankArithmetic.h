//===-- collective/RankArithmetic.h - Who holds what, in numbers -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions of rank counts and sizes. No algorithm computes an offset, a
// peer or a number of bytes elsewhere.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_RANKARITHMETIC_H
#define CGX_RUNTIME_COLLECTIVE_RANKARITHMETIC_H

#include "cgx/wire.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace cgx {

/// The ranks that take part in one collective, and where this one is among them.
struct Group {
  std::vector<uint32_t> ranks;
  uint32_t position = 0;

  uint32_t size() const { return uint32_t(ranks.size()); }
};

/// The row of `groups` that `rank` is in; a rank in none is a group of its own.
inline Group groupOf(const std::vector<std::vector<uint32_t>> &groups, uint32_t rank) {
  for (const std::vector<uint32_t> &row : groups)
    for (uint32_t position = 0; position < row.size(); ++position)
      if (row[position] == rank)
        return {row, position};
  return {{rank}, 0};
}

/// All ranks of a job.
inline Group groupOfAll(uint32_t ranks, uint32_t rank) {
  Group group{std::vector<uint32_t>(ranks), rank};
  for (uint32_t i = 0; i < ranks; ++i)
    group.ranks[i] = i;
  return group;
}

/// What a position in a group is for a permutation: `rank`'s place among the senders that its pairs connect
/// it with, a ring or a chain, in the order of the pairs. Along one axis of a mesh, rings that are replicas
/// of each other have equal places. 0 for a rank that sends nothing.
inline uint32_t placeInPermutation(const std::vector<std::pair<uint32_t, uint32_t>> &pairs, uint32_t rank) {
  std::map<uint32_t, uint32_t> targets(pairs.begin(), pairs.end()), sources;
  for (auto [source, target] : pairs)
    sources[target] = source;
  std::set<uint32_t> connected = {rank};
  for (const auto *way : {&targets, &sources})
    for (auto next = way->find(rank); next != way->end() && connected.insert(next->second).second;
         next = way->find(next->second)) {
    }
  uint32_t place = 0;
  for (auto [source, target] : pairs) {
    if (source == rank)
      return place;
    place += connected.contains(source);
  }
  return 0;
}

/// The position that `position` turns to in round 1, 2, ... size - 1: in each
/// round every position is turned to by exactly one, so no receiver is flooded.
inline uint32_t peerInRound(uint32_t position, uint32_t size, uint32_t round) {
  return (position + round) % size;
}

/// A tensor cut into one chunk per position of a group; position c owns chunk c.
struct Chunks {
  cgx_codec codec{};
  uint32_t type = CGX_F32;
  uint64_t elements = 0;
  uint64_t count = 1;
  bool hasOneOwner = false; ///< then chunk 0 is the whole tensor, and the others are empty

  /// Cuts chunks in place of `codec`.
  std::optional<cgx_codec> cut = {};

  uint64_t begin(uint64_t chunk) const {
    if (hasOneOwner)
      return chunk == 0 ? 0 : elements;
    return cgx_chunk_begin(cut ? &*cut : &codec, elements, count, chunk);
  }
  uint64_t size(uint64_t chunk) const { return begin(chunk + 1) - begin(chunk); }
  uint64_t beginByte(uint64_t chunk) const { return begin(chunk) * cgx_element_bytes(type); }
  uint64_t bytes(uint64_t chunk) const { return size(chunk) * cgx_element_bytes(type); }
  uint64_t payload(uint64_t chunk) const { return cgx_pieces_payload_bytes(&codec, type, size(chunk)); }
  /// Distance of payloads of one chunk, from several ranks: has room for any chunk, of
  /// which chunk 0 is the largest.
  uint64_t slot() const { return payload(0); }
  /// Where each chunk's payload begins in the payload of the whole tensor, in which they
  /// lie one behind the other; the last entry is its end.
  std::vector<uint64_t> payloadBegins() const {
    std::vector<uint64_t> begins(count + 1, 0);
    for (uint64_t chunk = 0; chunk < count; ++chunk)
      begins[chunk + 1] = begins[chunk] + payload(chunk);
    return begins;
  }

  /// The same tensor uncompressed.
  Chunks exact() const {
    Chunks raw = *this;
    raw.codec = cgx_codec{};
    raw.cut.reset();
    return raw;
  }
};

/// Bytes that a position sends in an all-reduce by scatter-reduce-allgather: its
/// contributions to the chunks of the others, then its own chunk's result to each.
inline uint64_t allReduceWireBytes(const Chunks &chunks, uint32_t position) {
  if (chunks.count == 1)
    return 0;
  uint64_t bytes = (chunks.count - 1) * chunks.payload(position);
  for (uint64_t chunk = 0; chunk < chunks.count; ++chunk)
    if (chunk != position)
      bytes += chunks.payload(chunk);
  return bytes;
}

/// A tensor cut into what the ranks of a host own of it, in an algorithm of hosts.
inline Chunks hostChunks(const cgx_schedule &schedule, const cgx_codec &inside, uint32_t type,
                         uint64_t elements) {
  return {inside, type, elements, schedule.local, schedule.leaders == CGX_LEADERS_ONE};
}

/// The positions that send `position` their sums in a binomial tree, the nearest first.
inline std::vector<uint32_t> treeChildren(uint32_t position, uint32_t size) {
  std::vector<uint32_t> children;
  for (uint32_t distance = 1; position + distance < size && (position & distance) == 0; distance *= 2)
    children.push_back(position + distance);
  return children;
}

/// Where they send them: the position without its lowest bit.
inline uint32_t treeParent(uint32_t position) { return position & (position - 1); }

/// Elements of an operand.
struct ElementRange {
  uint64_t begin = 0, size = 0;
};

/// What a position encodes of an operand in the two phases of an all-reduce, other than inside of
/// hosts: each element once, so that error feedback remembers one loss of each.
struct EncodedRanges {
  ElementRange contribution, result;
};

inline EncodedRanges encodedRanges(const cgx_schedule &schedule, const cgx_codec &codec, bool isExact,
                                   uint32_t type, uint64_t elements, const Group &group) {
  uint32_t ranks = group.size(), position = group.position;
  if (schedule.algorithm == CGX_ALGORITHM_TREE && ranks > 1) {
    if (position != 0)
      return {{0, elements}, {0, 0}};
    return {{0, 0}, {0, elements}};
  }
  if (schedule.algorithm == CGX_ALGORITHM_HIERARCHICAL && ranks > 1) {
    // Between hosts the own chunk is a tensor of its own.
    elements = hostChunks(schedule, isExact ? codec : schedule.inside, type, elements)
                   .size(position % schedule.local);
    ranks /= schedule.local;
    position /= schedule.local;
  }
  Chunks chunks{codec, type, elements, ranks};
  return {{0, elements}, {chunks.begin(position), chunks.size(position)}};
}

/// A tensor seen as [outer, size, inner] around one dimension.
struct DimensionView {
  uint64_t outer = 1;
  uint64_t size = 1;
  uint64_t inner = 1;
};

inline DimensionView viewAround(const std::vector<uint64_t> &shape, uint64_t dim) {
  DimensionView view;
  for (uint64_t i = 0; i < shape.size(); ++i)
    (i < dim ? view.outer : i == dim ? view.size : view.inner) *= shape[i];
  return view;
}

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_RANKARITHMETIC_H
