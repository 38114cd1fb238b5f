//===-- GcompDecode.h - Mantissas back to elements --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_GCOMPDECODE_H
#define CGX_KERNELS_CUDA_AGENT_GCOMPDECODE_H

#include "Gcomp.h"
#include "LosslessDecode.h"

namespace cgx::cuda {

/// Counts each level among the first `end` levels of two bits each; a warp does so together.
template <typename Warp>
CGX_AGENT LevelCounts countLevels(const Warp &lanes, const uint8_t *levels, uint32_t end) {
  PerLane<Warp, LevelCounts> counts;
  lanes.forEach([&](uint32_t lane) {
    counts[lane] = {};
    for (uint32_t i = lane; i < end; i += laneCount) {
      const uint32_t level = lossless::levelAt(levels, i);
      unrolled<gcompLevels>([&](uint32_t each) { counts[lane].of[each] += level == each; });
    }
  });
  LevelCounts sum;
  unrolled<gcompLevels>([&](uint32_t level) {
    PerLane<Warp, uint32_t> own;
    lanes.forEach([&](uint32_t lane) { own[lane] = counts[lane].of[level]; });
    sum.of[level] =
        lanes.first(combineLanes(lanes, own, laneCount, [](uint32_t a, uint32_t b) { return a + b; }));
  });
  return sum;
}

/// Returns mantissa `i` of those of one level that begin at `begin`, in its place among 24 bits.
CGX_AGENT uint32_t mantissaAt(const uint8_t *begin, uint32_t i, uint32_t shift) {
  const uint32_t bits = 24 - shift;
  const uint64_t bit = uint64_t(i) * bits;
  const uint8_t *bytes = begin + bit / 8;
  uint32_t word = 0;
  for (uint32_t byte = 0; 8 * byte < bit % 8 + bits; ++byte) // no byte after its last
    word |= uint32_t(bytes[byte]) << 8 * byte;
  return ((word >> bit % 8) & ((1u << bits) - 1)) << shift;
}

/// The parts of a block of gcomp: the levels of all elements, then level by level their mantissas.
struct LeveledParts {
  /// Measures a block whose levels were counted, if it has space for them.
  struct Measure {
    LevelShifts shifts;
    const LevelCounts *counts;
    CGX_DEVICE_INLINE uint64_t operator()(const lossless::Block &block, uint64_t most) const {
      const uint64_t levels = lossless::levelBytes(block.notZero);
      return levels > most ? most + 1 : levels + counts->allBytes(shifts);
    }
  };
  CGX_AGENT static Measure measure(const DecodeDescriptor &desc, const LosslessWorkspace &workspace,
                                   uint64_t block) {
    return {lossless::makeLevelShifts(desc.codec, desc.type), workspace.levelCounts + block};
  }

  template <typename Warp> struct Reader {
    const uint8_t *levels;
    LevelSections sections;
    LevelPlaces<Warp> places;

    CGX_AGENT Reader(const Warp &lanes, const DecodeDescriptor &desc, const LosslessWorkspace &workspace,
                     uint64_t stream, const lossless::Block &block, uint32_t before)
        : levels(block.mantissas), sections(lossless::makeLevelShifts(desc.codec, desc.type),
                                            workspace.levelCounts[stream / blockStreams]),
          places{countLevels(lanes, levels, before)} {}

    CGX_AGENT PerLane<Warp, uint32_t> next(const Warp &lanes, const PerLane<Warp, bool> &isThere) {
      const uint32_t there = lanes.ballot(isThere), before = places.before.all();
      PerLane<Warp, uint32_t> ofLanes, mantissas;
      lanes.forEach([&](uint32_t lane) {
        ofLanes[lane] = isThere[lane]
                            ? lossless::levelAt(levels, before + countBits(there & ((1u << lane) - 1u)))
                            : noLevel;
      });
      const PerLane<Warp, uint32_t> inLevel = places.next(lanes, ofLanes);
      lanes.forEach([&](uint32_t lane) {
        const LevelSection section = sections.of(ofLanes[lane]);
        mantissas[lane] =
            ofLanes[lane] == noLevel ? 0 : mantissaAt(levels + section.begin, inLevel[lane], section.shift);
      });
      return mantissas;
    }
  };
};

/// Counts the levels of blocks, a warp for each, if a block has the bytes that its header states.
struct CountLevels {
  static constexpr uint32_t sharedBytes = 0;
  LosslessDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    if (!table.wasSound(desc))
      return;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t block) {
      FoundBlock<LeveledParts> found;
      if (!found.locate(desc, block) || found.isRaw)
        return;
      const uint64_t header = 2 + 2 * uint64_t(lossless::streamCount(found.elements));
      const uint32_t notZero = loadBits16(found.begin, 0);
      LevelCounts counts;
      if (notZero <= found.elements && header + lossless::levelBytes(notZero) <= found.bytes)
        counts = countLevels(lanes, found.begin + header, notZero);
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          table.workspaces[range.desc].levelCounts[block] = counts;
      });
    });
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_GCOMPDECODE_H
