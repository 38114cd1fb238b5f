//===-- TopkLevelsEncode.h - Choosing the largest of buckets, and writing their levels ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_TOPKLEVELSENCODE_H
#define CGX_KERNELS_CUDA_AGENT_TOPKLEVELSENCODE_H

#include "SparseEncode.h"
#include "TopkLevels.h"

namespace cgx::cuda {

/// Stores the positions of the elements that each bucket sends in their table.
struct ChooseInBuckets {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    uint32_t *positions = table.workspaces[range.desc].positions;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t number) {
      const TopkBucket bucket(desc.codec, desc.elements, number);
      const Cut cut = findCut(lanes, desc, bucket);
      const uint64_t end = bucket.begin + bucket.elements;
      ChunkCount before = {0, 0};
      const auto choiceOf = [&](uint64_t i) {
        const uint32_t magnitude = magnitudeAt(desc, i);
        return Choice{magnitude > cut.magnitude, magnitude == cut.magnitude};
      };
      const auto storeRow = [&](uint32_t above, uint32_t ties, uint64_t row) {
        forEachSentOfRow(lanes, above, ties, cut.ties, before, [&](uint32_t lane, uint32_t rank) {
          positions[bucket.firstSent + rank] = uint32_t(row - bucket.begin) + lane;
        });
      };
      forEachRow(lanes, bucket.begin, end, choiceOf, storeRow);
    });
  }

private:
  /// The cut of a bucket: larger magnitudes are sent, and the first `ties` elements of this one.
  struct Cut {
    uint32_t magnitude, ties;
  };

  /// Finds the cut, two bits of the magnitude at a time from the highest, until exactly as many elements as
  /// are sent reach it.
  template <typename Warp>
  CGX_AGENT static Cut findCut(const Warp &lanes, const EncodeDescriptor &desc, const TopkBucket &bucket) {
    const auto wanted = uint32_t(bucket.parts.count);
    uint32_t magnitude = 0, atLeast = uint32_t(bucket.elements), above = 0;
    for (uint32_t shift = 32; shift > 0 && atLeast != wanted;) {
      shift -= 2;
      PerLane<Warp, uint32_t> one, two, three; // numbers of elements of at least that digit
      lanes.forEach([&](uint32_t lane) {
        one[lane] = two[lane] = three[lane] = 0;
        for (uint64_t i = lane; i < bucket.elements; i += laneCount) {
          const uint32_t bits = magnitudeAt(desc, bucket.begin + i);
          one[lane] += bits >= (magnitude | 1u << shift);
          two[lane] += bits >= (magnitude | 2u << shift);
          three[lane] += bits >= (magnitude | 3u << shift);
        }
      });
      const uint32_t counts[] = {atLeast, sumOf(lanes, one), sumOf(lanes, two), sumOf(lanes, three), above};
      uint32_t digit = 3;
      while (digit > 0 && counts[digit] < wanted)
        --digit;
      magnitude |= digit << shift;
      atLeast = counts[digit];
      above = counts[digit + 1];
    }
    return {magnitude, wanted - (atLeast == wanted ? 0 : above)};
  }

  template <typename Warp>
  CGX_AGENT static uint32_t sumOf(const Warp &lanes, const PerLane<Warp, uint32_t> &counts) {
    return lanes.first(combineLanes(lanes, counts, laneCount, [](uint32_t a, uint32_t b) { return a + b; }));
  }
};

/// Writes the header and buckets, byte by byte.
struct StoreBuckets {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    if (!table.wereSound(desc))
      return;
    writeHeader(threads, desc, range);
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t number) {
      const TopkBucket bucket(desc.codec, desc.elements, number);
      const uint32_t *positions = table.workspaces[range.desc].positions + bucket.firstSent;
      const auto sent = [&](uint64_t i) { return TensorInput::load(desc, bucket.begin + positions[i]); };
      const BucketScale scale = scaleOf(lanes, desc.codec, bucket.parts.count, sent);
      lanes.forEach([&](uint32_t lane) {
        uint8_t *bytes = desc.body + bucket.byte;
        if (lane == 0)
          storeTopkScale(desc.codec, bytes, scale);
        storeBytes(desc.codec, bucket, lane, positions, scale, sent, bytes);
      });
    });
  }

private:
  /// Returns the scale of a bucket, in all lanes.
  template <typename Warp, typename Sent>
  CGX_AGENT static BucketScale scaleOf(const Warp &lanes, const cgx_codec &codec, uint64_t count,
                                       const Sent &sent) {
    PerLane<Warp, uint32_t> smallest, largest;
    PerLane<Warp, double> sum;
    lanes.forEach([&](uint32_t lane) {
      smallest[lane] = 0xffffffffu;
      largest[lane] = 0;
      for (uint64_t i = lane; i < count; i += laneCount) {
        const uint32_t bits = magnitudeBits(sent(i));
        smallest[lane] = bits < smallest[lane] ? bits : smallest[lane];
        largest[lane] = bits > largest[lane] ? bits : largest[lane];
      }
      sum[lane] = 0.0;
      // These are added in order, as on the CPU.
      if (lane == 0 && topkLevelBits(codec) == 0)
        for (uint64_t i = 0; i < count; ++i)
          sum[lane] += double(floatFromBits(magnitudeBits(sent(i))));
    });
    const uint32_t least = lanes.first(
        combineLanes(lanes, smallest, laneCount, [](uint32_t a, uint32_t b) { return a < b ? a : b; }));
    const uint32_t most = lanes.first(
        combineLanes(lanes, largest, laneCount, [](uint32_t a, uint32_t b) { return a > b ? a : b; }));
    const double all = lanes.first(sum);
    return most < infinityBits ? topkScale(codec, floatFromBits(least), floatFromBits(most), all, count)
                               : notFiniteScale();
  }

  /// Writes a lane's bytes of positions and codes.
  template <typename Sent>
  CGX_AGENT static void storeBytes(const cgx_codec &codec, const TopkBucket &bucket, uint32_t lane,
                                   const uint32_t *positions, BucketScale scale, const Sent &sent,
                                   uint8_t *bytes) {
    const CodedPositions coded(bucket.elements, bucket.parts.count);
    const uint64_t positionBytes = bucket.parts.codes - bucket.parts.positions;
    for (uint64_t i = lane; i < positionBytes; i += laneCount)
      bytes[bucket.parts.positions + i] = coded.byteAt(i, positions);
    const bool hasLevels = isFiniteScale(scale);
    const TopkLevelMap levels = makeTopkLevelMap(codec, scale);
    const uint64_t codeBytes = (bucket.parts.count * codec.bits + 7) / 8;
    for (uint64_t i = lane; i < codeBytes; i += laneCount)
      bytes[bucket.parts.codes + i] =
          hasLevels ? topkCodeByte(i, codec.bits, bucket.parts.count,
                                   [&](uint64_t j) { return topkCode(levels, sent(j)); })
                    : uint8_t(0);
  }
};

/// Subtracts the values that were sent from the sums. In a bucket that is not finite, sums become NaN.
struct TakeSentLevels {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    if (!table.wereSound(desc))
      return;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t number) {
      forEachOfTopkBucket(
          lanes, desc.codec, TopkBucket(desc.codec, desc.elements, number), desc.body,
          table.workspaces[range.desc].positions, largestValue(CGX_F32),
          [&](uint64_t i) { desc.sums[i] = quietNan(); },
          [&](uint64_t i, float value) { desc.sums[i] -= 0.0f + value; });
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_TOPKLEVELSENCODE_H
