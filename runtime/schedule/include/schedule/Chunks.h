//===-- schedule/Chunks.h - Chunks of tensors and their owners --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file has pure functions of rank counts and sizes. No algorithm computes an offset or a number of bytes
// elsewhere.
#ifndef CGX_RUNTIME_SCHEDULE_CHUNKS_H
#define CGX_RUNTIME_SCHEDULE_CHUNKS_H

#include "cgx/wire.h"
#include "schedule/Group.h"

namespace cgx {

/// The chunks into which a pattern divides a tensor; position c owns chunk c.
struct Chunks {
  cgx_pattern pattern{};
  cgx_codec codec{}; ///< codec of the payloads
  uint32_t type = CGX_F32;
  uint64_t elements = 0;
  cgx_codec cut = codec; ///< codec at whose buckets chunks begin

  uint64_t count() const { return pattern.ranks; }
  uint64_t begin(uint64_t chunk) const { return cgx_part_begin(&pattern, &cut, elements, chunk); }
  uint64_t size(uint64_t chunk) const { return cgx_part_elements(&pattern, &cut, elements, chunk); }
  uint64_t beginByte(uint64_t chunk) const { return begin(chunk) * cgx_element_bytes(type); }
  uint64_t bytes(uint64_t chunk) const { return size(chunk) * cgx_element_bytes(type); }
  uint64_t payload(uint64_t chunk) const {
    return cgx_part_payload_bytes(&pattern, &cut, &codec, type, elements, chunk);
  }
  /// Returns the distance between the payloads of one chunk from several ranks. Any chunk fits, since chunk 0
  /// is the largest.
  uint64_t slot() const { return payload(0); }
  /// Returns where each chunk's payload begins in the payload of the whole tensor, in which they follow each
  /// other; the last entry is its end.
  std::vector<uint64_t> payloadBegins() const {
    std::vector<uint64_t> begins(count() + 1, 0);
    for (uint64_t chunk = 0; chunk < count(); ++chunk)
      begins[chunk + 1] = begins[chunk] + payload(chunk);
    return begins;
  }
};

/// A range of elements of an operand.
struct ElementRange {
  uint64_t begin = 0, size = 0;
};

/// The ranges that a position encodes in the two phases of an all-reduce, apart from intra-host stages. Each
/// element is encoded once, so that error feedback keeps one loss of each.
struct EncodedRanges {
  ElementRange contribution, result;
};

inline EncodedRanges encodedRanges(const cgx_schedule &schedule, const cgx_codec &codec, bool isUncompressed,
                                   uint32_t type, uint64_t elements, const Group &group) {
  const cgx_collective collective{.ranks = group.size(), .schedule = schedule};
  cgx_pattern pattern = cgx_pattern_of(&collective);
  uint32_t position = group.position;
  if (cgx_algorithm_has_hosts(schedule.algorithm) && group.size() > 1) {
    // Between hosts this rank's own chunk is a tensor of its own.
    const Chunks host{cgx_host_stage(&schedule, group.size(), 0), isUncompressed ? codec : schedule.inside,
                      type, elements};
    elements = host.size(cgx_position_in_stage(&schedule, 0, position));
    pattern = cgx_host_stage(&schedule, group.size(), 1);
    position = cgx_position_in_stage(&schedule, 1, position);
  }
  const Chunks chunks{pattern, codec, type, elements};
  const ElementRange own{chunks.begin(position), chunks.size(position)};
  if (pattern.cut == CGX_CUT_COPIES) // every rank reduces for itself, so nobody encodes a result
    return {{0, elements}, {}};
  if (pattern.cut != CGX_CUT_ONE || group.size() == 1)
    return {{0, elements}, own};
  // The owner of the only chunk encodes no contribution, and the others encode no result.
  return position == pattern.owner ? EncodedRanges{{}, own} : EncodedRanges{{0, elements}, {}};
}

} // namespace cgx

#endif // CGX_RUNTIME_SCHEDULE_CHUNKS_H
