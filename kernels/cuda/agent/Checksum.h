//===-- Checksum.h - The checksum of a payload, by many threads ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_CHECKSUM_H
#define CGX_KERNELS_CUDA_AGENT_CHECKSUM_H

#include "Envelope.h"
#include "cgx/arithmetic/checksum.h"

namespace cgx::cuda {

/// A payload whose checksum is computed. Words may be added in any order.
struct SummedDescriptor {
  uint8_t *payload;
  PayloadDescriptor given; ///< holds the number of bytes; its `sum` is not read
  uint64_t *sum;           ///< if `isWritten`, 0 between runs; else the checksum that the payload must hold
  bool isWritten;          ///< whether the checksum is appended, rather than left for comparison
};

/// Returns the bytes before the checksum; 0 for a payload that is shorter than a checksum.
CGX_AGENT uint64_t summedBytes(const SummedDescriptor &desc) {
  const uint64_t bytes = boundedBytes(desc.given);
  return bytes < CGX_PAYLOAD_CHECKSUM_BYTES ? 0 : bytes - CGX_PAYLOAD_CHECKSUM_BYTES;
}

struct ClearChecksums {
  static constexpr uint32_t sharedBytes = 0;
  const SummedDescriptor *descs;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    threads.forEachIndex(0, 1, [&](uint64_t) { *descs[range.desc].sum = 0; });
  }
};

/// Adds the words [begin, end) of a payload.
struct SumWords {
  static constexpr uint32_t sharedBytes = 0;
  const SummedDescriptor *descs;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const SummedDescriptor &desc = descs[range.desc];
    const uint64_t bytes = summedBytes(desc), words = (bytes + 7) / 8;
    const uint64_t end = range.end < words ? range.end : words;
    threads.forEachWarp(range.begin / laneCount, (end + laneCount - 1) / laneCount,
                        [&](const auto &lanes, uint64_t row) { addRow(threads, lanes, desc, row, bytes); });
  }

private:
  template <typename ThreadBlock, typename Warp>
  CGX_AGENT static void addRow(const ThreadBlock &threads, const Warp &lanes, const SummedDescriptor &desc,
                               uint64_t row, uint64_t bytes) {
    PerLane<Warp, uint64_t> mixed;
    lanes.forEach([&](uint32_t lane) {
      const uint64_t word = row * laneCount + lane;
      mixed[lane] = 0;
      if (word * 8 < bytes)
        mixed[lane] = mixChecksumWord(wordAt(desc.payload, word, bytes), word + 1);
    });
    mixed = combineLanes(lanes, mixed, laneCount, [](uint64_t a, uint64_t b) { return a + b; });
    lanes.forEach([&](uint32_t lane) {
      if (lane == 0)
        threads.atomicAdd(desc.sum, mixed[lane]);
    });
  }

  CGX_AGENT static uint64_t wordAt(const uint8_t *payload, uint64_t word, uint64_t bytes) {
    if (word * 8 + 8 <= bytes)
      return loadFrom<uint64_t>(payload + word * 8);
    uint64_t last = 0;
    for (uint64_t i = word * 8; i < bytes; ++i)
      last |= uint64_t(payload[i]) << (i % 8 * 8);
    return last;
  }
};

/// Finishes the checksum from the sum, and appends it to a payload that has just been written.
struct FinishChecksums {
  static constexpr uint32_t sharedBytes = 0;
  const SummedDescriptor *descs;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const SummedDescriptor &desc = descs[range.desc];
    threads.forEachIndex(0, 1, [&](uint64_t) {
      const uint64_t bytes = summedBytes(desc);
      *desc.sum = mixBits(*desc.sum + bytes);
      if (desc.isWritten)
        storeWord(desc.payload + bytes, *desc.sum);
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_CHECKSUM_H
