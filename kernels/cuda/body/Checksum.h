//===-- Checksum.h - The checksum of a payload, by many threads ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BODY_CHECKSUM_H
#define CGX_KERNELS_CUDA_BODY_CHECKSUM_H

#include "Envelope.h"
#include "cgx/arithmetic/checksum.h"

namespace cgx::cuda {

/// A payload whose bytes are summed. Words may be added in any order.
struct SummedItem {
  uint8_t *payload;
  PayloadItem given; ///< says how many bytes there are; `sum` is not read
  uint64_t *sum;     ///< 0 between runs when it is written into the payload, else what the payload must hold
  bool isWritten;    ///< append the checksum, instead of leaving it to be compared
};

/// Bytes before the checksum, none in a payload that is shorter than one.
CGX_BODY uint64_t summedBytes(const SummedItem &item) {
  const uint64_t bytes = boundedBytes(item.given);
  return bytes < CGX_PAYLOAD_CHECKSUM_BYTES ? 0 : bytes - CGX_PAYLOAD_CHECKSUM_BYTES;
}

struct ClearChecksums {
  static constexpr uint32_t sharedBytes = 0;
  const SummedItem *items;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    crew.forEachIndex(0, 1, [&](uint64_t) { *items[slice.item].sum = 0; });
  }
};

/// Adds the words [begin, end) of a payload.
struct SumWords {
  static constexpr uint32_t sharedBytes = 0;
  const SummedItem *items;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const SummedItem &item = items[slice.item];
    const uint64_t bytes = summedBytes(item), words = (bytes + 7) / 8;
    const uint64_t end = slice.end < words ? slice.end : words;
    crew.forEachWarp(slice.begin / laneCount, (end + laneCount - 1) / laneCount,
                     [&](const auto &lanes, uint64_t row) { addRow(crew, lanes, item, row, bytes); });
  }

private:
  template <typename Crew, typename Lanes>
  CGX_BODY static void addRow(const Crew &crew, const Lanes &lanes, const SummedItem &item, uint64_t row,
                              uint64_t bytes) {
    PerLane<Lanes, uint64_t> mixed;
    lanes.forEach([&](uint32_t lane) {
      const uint64_t word = row * laneCount + lane;
      mixed[lane] = 0;
      if (word * 8 < bytes)
        mixed[lane] = mixChecksumWord(wordAt(item.payload, word, bytes), word + 1);
    });
    mixed = combineLanes(lanes, mixed, laneCount, [](uint64_t a, uint64_t b) { return a + b; });
    lanes.forEach([&](uint32_t lane) {
      if (lane == 0)
        crew.atomicAdd(item.sum, mixed[lane]);
    });
  }

  CGX_BODY static uint64_t wordAt(const uint8_t *payload, uint64_t word, uint64_t bytes) {
    if (word * 8 + 8 <= bytes)
      return loadFrom<uint64_t>(payload + word * 8);
    uint64_t last = 0;
    for (uint64_t i = word * 8; i < bytes; ++i)
      last |= uint64_t(payload[i]) << (i % 8 * 8);
    return last;
  }
};

/// Makes the checksum of the sum, and appends it to a payload that has just been written.
struct FinishChecksums {
  static constexpr uint32_t sharedBytes = 0;
  const SummedItem *items;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const SummedItem &item = items[slice.item];
    crew.forEachIndex(0, 1, [&](uint64_t) {
      const uint64_t bytes = summedBytes(item);
      *item.sum = mixBits(*item.sum + bytes);
      if (item.isWritten)
        storeWord(item.payload + bytes, *item.sum);
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_CHECKSUM_H
