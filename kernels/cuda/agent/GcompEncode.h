//===-- GcompEncode.h - Mantissas rounded to their levels -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One step rounds elements to their levels. Its results are encoded like elements of lossless, except for the
// mantissas: all lanes know the places of these, and add their bits to words that were cleared.
#ifndef CGX_KERNELS_CUDA_AGENT_GCOMPENCODE_H
#define CGX_KERNELS_CUDA_AGENT_GCOMPENCODE_H

#include "Gcomp.h"
#include "LosslessEncode.h"

namespace cgx::cuda {

/// Finds the levels of elements, and rounds them.
struct RoundToLevels {
  static constexpr uint32_t sharedBytes = sizeof(GcompMetric);
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wereSound(desc))
      return;
    const bool isKnown = desc.optimizer.kept[CGX_KEPT_PARAMETER].elements != nullptr;
    GcompMetric &metric = *threads.template shared<GcompMetric>();
    threads.once([&] {
      OptimizerTensors optimizer = desc.optimizer;
      optimizer.update = table.state->step + 1;
      if (isKnown)
        metric = makeGcompMetric(desc.codec, desc.type, optimizer);
    });
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      const uint32_t bits = gcompPruned(desc.type, bitsOf(desc, i));
      const uint32_t level = isKnown && !gcompIsShort(desc.type, bits) ? levelOf(desc, metric, i) : 0;
      const uint32_t rounded = gcompRounded(bits, gcompShift(desc.codec, desc.type, level));
      workspace.levels[i] = uint8_t(level);
      if (desc.type == CGX_F32)
        storeTo(static_cast<uint32_t *>(workspace.coded) + i, rounded);
      else
        storeTo(static_cast<uint16_t *>(workspace.coded) + i, uint16_t(rounded >> 16));
    });
  }

private:
  CGX_AGENT static uint32_t levelOf(const EncodeDescriptor &desc, const GcompMetric &metric, uint64_t i) {
    double kept[CGX_KEPT_TENSORS];
    unrolled<CGX_KEPT_TENSORS>([&](uint32_t tensor) {
      const KeptTensor &from = desc.optimizer.kept[tensor];
      kept[tensor] = from.elements
                         ? double(loadElement(sourceOf(from.type), from.elements, desc.firstElement + i))
                         : 0.0;
    });
    return gcompLevel(metric, double(loadElement(desc.source, desc.input, i)), kept[CGX_KEPT_PARAMETER],
                      kept[CGX_KEPT_FIRST_MOMENT], kept[CGX_KEPT_SECOND_MOMENT]);
  }
};

/// Returns the levels of a row of elements that were rounded.
template <typename Warp>
CGX_AGENT PerLane<Warp, uint32_t> levelsOfRow(const Warp &lanes, const EncodeDescriptor &desc,
                                              const LosslessWorkspace &workspace, uint64_t row) {
  PerLane<Warp, uint32_t> levels;
  lanes.forEach([&](uint32_t lane) {
    const bool isThere = row + lane < desc.elements && !isZeroBits(bitsOf(desc, row + lane));
    levels[lane] = isThere ? workspace.levels[row + lane] : noLevel;
  });
  return levels;
}

/// Counts the levels of streams, a warp for each.
struct MeasureLevels {
  static constexpr uint32_t sharedBytes = 0;
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t stream) {
      LevelPlaces<std::remove_cvref_t<decltype(lanes)>> places;
      forEachRowOfStream(desc.elements, stream,
                         [&](uint64_t row) { places.next(lanes, levelsOfRow(lanes, desc, workspace, row)); });
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          workspace.levelCounts[stream] = places.before;
      });
    });
  }
};

/// Counts the levels of the elements of streams [begin, end).
CGX_AGENT LevelCounts countsOf(const LosslessWorkspace &workspace, uint64_t begin, uint64_t end) {
  LevelCounts sum;
  for (uint64_t stream = begin; stream < end; ++stream)
    for (uint32_t level = 0; level < gcompLevels; ++level)
      sum.of[level] += workspace.levelCounts[stream].of[level];
  return sum;
}

/// The mantissas of gcomp: the levels of all elements, then level by level their mantissas.
struct LeveledMantissas {
  CGX_AGENT static uint64_t bytes(const EncodeDescriptor &desc, const LosslessWorkspace &workspace,
                                  uint64_t firstStream, uint32_t streams, uint32_t notZero) {
    return lossless::levelBytes(notZero) + countsOf(workspace, firstStream, firstStream + streams)
                                               .allBytes(lossless::makeLevelShifts(desc.codec, desc.type));
  }

  /// Stores levels and mantissas into bytes that are 0.
  template <typename ThreadBlock, typename Warp>
  CGX_AGENT static void store(const ThreadBlock &threads, const Warp &lanes, const EncodeDescriptor &desc,
                              const LosslessWorkspace &workspace, uint64_t stream,
                              const BlockPlan<LeveledMantissas> &plan, uint8_t *to) {
    const uint64_t first = stream / blockStreams * blockStreams;
    const LevelSections sections(lossless::makeLevelShifts(desc.codec, desc.type),
                                 countsOf(workspace, first, first + plan.streams));
    LevelPlaces<Warp> places = {countsOf(workspace, first, stream)};
    const auto begin = uint64_t(to - desc.body);
    forEachRowOfStream(desc.elements, stream, [&](uint64_t row) {
      const uint32_t before = places.before.all();
      const PerLane<Warp, uint32_t> levels = levelsOfRow(lanes, desc, workspace, row),
                                    inLevel = places.next(lanes, levels);
      storeLevels(threads, lanes, desc, levels, 8 * begin + 2 * before);
      lanes.forEach([&](uint32_t lane) {
        const uint32_t level = levels[lane];
        if (level == noLevel)
          return;
        const uint32_t bits = bitsOf(desc, row + lane);
        const LevelSection section = sections.of(level);
        const uint32_t mantissa = cgx::restOf(bits) << 16 | (bits & 0xffff);
        addBits(threads, desc, 8 * (begin + section.begin) + uint64_t(inLevel[lane]) * (24 - section.shift),
                mantissa >> section.shift);
      });
    });
  }

private:
  /// The bits of a row, in words of the body.
  struct Words {
    uint32_t of[4];
  };

  /// Adds at most 32 bits to the body from bit `at` on.
  template <typename ThreadBlock>
  CGX_AGENT static void addBits(const ThreadBlock &threads, const EncodeDescriptor &desc, uint64_t at,
                                uint32_t bits) {
    auto *words = reinterpret_cast<uint32_t *>(desc.body) + at / 32;
    const uint64_t placed = uint64_t(bits) << at % 32;
    for (uint32_t word = 0; word < 2; ++word)
      if (const auto part = uint32_t(placed >> 32 * word); part != 0)
        threads.atomicAdd(words + word, part);
  }

  /// Stores two bits for each element that has a level. Lanes first combine what they add to one word.
  template <typename ThreadBlock, typename Warp>
  CGX_AGENT static void storeLevels(const ThreadBlock &threads, const Warp &lanes,
                                    const EncodeDescriptor &desc, const PerLane<Warp, uint32_t> &levels,
                                    uint64_t at) {
    PerLane<Warp, bool> isThere;
    lanes.forEach([&](uint32_t lane) { isThere[lane] = levels[lane] != noLevel; });
    const uint32_t there = lanes.ballot(isThere);
    PerLane<Warp, Words> words;
    lanes.forEach([&](uint32_t lane) {
      const uint64_t bit = at % 32 + 2 * countBits(there & ((1u << lane) - 1u));
      for (uint32_t word = 0; word < 4; ++word)
        words[lane].of[word] = isThere[lane] && bit / 32 == word ? levels[lane] << bit % 32 : 0;
    });
    words = combineLanes(lanes, words, laneCount, [](const Words &a, const Words &b) {
      return Words{{a.of[0] | b.of[0], a.of[1] | b.of[1], a.of[2] | b.of[2], a.of[3] | b.of[3]}};
    });
    lanes.forEach([&](uint32_t lane) {
      if (lane == 0)
        for (uint32_t word = 0; word < 3; ++word)
          if (words[lane].of[word] != 0)
            threads.atomicAdd(reinterpret_cast<uint32_t *>(desc.body) + at / 32 + word, words[lane].of[word]);
    });
  }
};

/// Clears the bytes that levels and mantissas are added to. A warp for each stream clears its share of a
/// block.
struct ClearMantissas {
  static constexpr uint32_t sharedBytes = 0;
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wereSound(desc))
      return;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t stream) {
      const uint64_t block = stream / blockStreams, inBlock = stream % blockStreams;
      const BlockPlan<LeveledMantissas> plan(desc, workspace, block);
      if (plan.isRaw)
        return;
      uint8_t *begin = desc.body + workspace.begins[block] + plan.mantissasBegin();
      lanes.forEach([&](uint32_t lane) {
        for (uint64_t at = inBlock * laneCount + lane; at < plan.mantissaBytes;
             at += plan.streams * laneCount)
          begin[at] = 0;
      });
    });
  }
};

/// The value of an element in a payload of gcomp: the coded one, which is the input of the step that encodes
/// it.
struct SentRounded {
  CGX_AGENT static float load(const EncodeDescriptor &desc, uint64_t index) {
    return 0.0f + TensorInput::load(desc, index);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_GCOMPENCODE_H
