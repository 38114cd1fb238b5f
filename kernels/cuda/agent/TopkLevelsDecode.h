//===-- TopkLevelsDecode.h - Levels back to their positions ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_TOPKLEVELSDECODE_H
#define CGX_KERNELS_CUDA_AGENT_TOPKLEVELSDECODE_H

#include "SparseDecode.h"
#include "TopkLevels.h"

namespace cgx::cuda {

/// Stores the positions of buckets in their table, and checks that they rise, are those of elements, and
/// match the number of elements sent.
struct ReadBuckets {
  static constexpr uint32_t sharedBytes = sizeof(bool);
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    // Other blocks may record an error meanwhile, and the lanes of a warp must not disagree.
    bool *wasSound = threads.template shared<bool>();
    threads.once([&] { *wasSound = table.wasSound(desc); });
    if (!*wasSound)
      return;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t number) {
      const TopkBucket bucket(desc.codec, desc.elements, number);
      read(lanes, desc, bucket, table.workspaces[range.desc].positions + bucket.firstSent);
    });
  }

private:
  template <typename Warp>
  CGX_AGENT void read(const Warp &lanes, const DecodeDescriptor &desc, const TopkBucket &bucket,
                      uint32_t *positions) const {
    const uint64_t count = bucket.parts.count;
    const CodedPositions coded(bucket.elements, count);
    const uint8_t *bytes = desc.body + bucket.byte + bucket.parts.positions;
    const uint8_t *high = bytes + coded.highBegin();
    const uint64_t highCount = coded.bytes() - coded.highBegin();
    uint64_t rank = 0;
    for (uint64_t row = 0; row < highCount; row += laneCount) {
      PerLane<Warp, uint32_t> found;
      lanes.forEach(
          [&](uint32_t lane) { found[lane] = row + lane < highCount ? countBits(high[row + lane]) : 0; });
      const PerLane<Warp, uint32_t> before = sumBefore(lanes, found);
      lanes.forEach([&](uint32_t lane) {
        if (row + lane < highCount)
          readByte(desc, bucket, coded, bytes, row + lane, rank + before[lane], positions);
      });
      rank += lanes.first(found);
    }
    lanes.forEach([&](uint32_t lane) {
      if (lane == 0 && rank != count)
        table.say(desc, DecodeError::malformed);
    });
  }

  /// Reads the positions whose bits are in a byte. The first of them has number `rank`.
  CGX_AGENT void readByte(const DecodeDescriptor &desc, const TopkBucket &bucket, const CodedPositions &coded,
                          const uint8_t *bytes, uint64_t byte, uint64_t rank, uint32_t *positions) const {
    const uint8_t *high = bytes + coded.highBegin();
    for (uint32_t bit = 0; bit < 8; ++bit) {
      if (!(high[byte] >> bit & 1))
        continue;
      const uint64_t place = byte * 8 + bit;
      if (rank >= bucket.parts.count)
        return table.say(desc, DecodeError::malformed);
      const uint64_t position = coded.positionOf(rank, place, bytes);
      // The positions of neighbouring bits have equal high bits, so their low bits must rise.
      const bool hasNeighbour = place > 0 && high[(place - 1) / 8] >> ((place - 1) % 8) & 1;
      if (position >= bucket.elements ||
          (hasNeighbour && position <= coded.positionOf(rank - 1, place - 1, bytes)))
        return table.say(desc, DecodeError::malformed);
      positions[rank++] = uint32_t(position);
    }
  }
};

/// Stores the elements that are sent, over zeros. Elements of a bucket that is not finite become NaN.
template <Sink sink> struct PlaceLevels {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    if (!table.wasSound(desc))
      return;
    const cgx_element_type type = sink == Sink::add ? CGX_F32 : desc.type;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t number) {
      forEachOfTopkBucket(
          lanes, desc.codec, TopkBucket(desc.codec, desc.elements, number), desc.body,
          table.workspaces[range.desc].positions, largestValue(type),
          [&](uint64_t i) { storeElement(type, desc.output, i, quietNan()); },
          [&](uint64_t i, float value) {
            if constexpr (sink == Sink::add)
              addTo(desc.output, i, value);
            else
              storeElement(type, desc.output, i, value);
          });
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TOPKLEVELSDECODE_H
