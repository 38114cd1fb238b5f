//===-- GcompEncode.h - Mantissas as long as their levels ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step rounds elements as their levels say. What it leaves is encoded as elements of lossless are, but for
// the mantissas: of these, all lanes know the places, and add their bits to words that were cleared.
#ifndef CGX_KERNELS_CUDA_BODY_GCOMPENCODE_H
#define CGX_KERNELS_CUDA_BODY_GCOMPENCODE_H

#include "Gcomp.h"
#include "LosslessEncode.h"

namespace cgx::cuda {

/// Finds the levels of elements, and rounds them.
struct RoundToLevels {
  static constexpr uint32_t sharedBytes = sizeof(GcompMetric);
  LosslessEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const LosslessRoom &room = table.rooms[slice.item];
    if (!table.wereSound(item))
      return;
    const bool isKnown = item.optimizer.kept[CGX_KEPT_PARAMETER].elements != nullptr;
    GcompMetric &metric = *crew.template shared<GcompMetric>();
    crew.once([&] {
      OptimizerTensors optimizer = item.optimizer;
      optimizer.update = table.state->step + 1;
      if (isKnown)
        metric = makeGcompMetric(item.codec, item.type, optimizer);
    });
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      const uint32_t bits = gcompPruned(item.type, bitsOf(item, i));
      const uint32_t level = isKnown && !gcompIsShort(item.type, bits) ? levelOf(item, metric, i) : 0;
      const uint32_t rounded = gcompRounded(bits, gcompShift(item.codec, item.type, level));
      room.levels[i] = uint8_t(level);
      if (item.type == CGX_F32)
        storeTo(static_cast<uint32_t *>(room.coded) + i, rounded);
      else
        storeTo(static_cast<uint16_t *>(room.coded) + i, uint16_t(rounded >> 16));
    });
  }

private:
  CGX_BODY static uint32_t levelOf(const EncodeItem &item, const GcompMetric &metric, uint64_t i) {
    double kept[CGX_KEPT_TENSORS];
    unrolled<CGX_KEPT_TENSORS>([&](uint32_t tensor) {
      const KeptTensor &from = item.optimizer.kept[tensor];
      kept[tensor] = from.elements
                         ? double(loadElement(sourceOf(from.type), from.elements, item.firstElement + i))
                         : 0.0;
    });
    return gcompLevel(metric, double(loadElement(item.source, item.input, i)), kept[CGX_KEPT_PARAMETER],
                      kept[CGX_KEPT_FIRST_MOMENT], kept[CGX_KEPT_SECOND_MOMENT]);
  }
};

/// Levels of a row of elements that were rounded.
template <typename Lanes>
CGX_BODY PerLane<Lanes, uint32_t> levelsOfRow(const Lanes &lanes, const EncodeItem &item,
                                              const LosslessRoom &room, uint64_t row) {
  PerLane<Lanes, uint32_t> levels;
  lanes.forEach([&](uint32_t lane) {
    const bool isThere = row + lane < item.elements && !isZeroBits(bitsOf(item, row + lane));
    levels[lane] = isThere ? room.levels[row + lane] : noLevel;
  });
  return levels;
}

/// Counts the levels of streams, a warp for each.
struct MeasureLevels {
  static constexpr uint32_t sharedBytes = 0;
  LosslessEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const LosslessRoom &room = table.rooms[slice.item];
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t stream) {
      LevelPlaces<std::remove_cvref_t<decltype(lanes)>> places;
      forEachRowOfStream(item.elements, stream,
                         [&](uint64_t row) { places.next(lanes, levelsOfRow(lanes, item, room, row)); });
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          room.levelCounts[stream] = places.before;
      });
    });
  }
};

/// Levels of the elements of streams [begin, end).
CGX_BODY LevelCounts countsOf(const LosslessRoom &room, uint64_t begin, uint64_t end) {
  LevelCounts sum;
  for (uint64_t stream = begin; stream < end; ++stream)
    for (uint32_t level = 0; level < gcompLevels; ++level)
      sum.of[level] += room.levelCounts[stream].of[level];
  return sum;
}

/// Levels of all elements, then level by level their mantissas.
struct LeveledMantissas {
  CGX_BODY static uint64_t bytes(const EncodeItem &item, const LosslessRoom &room, uint64_t firstStream,
                                 uint32_t streams, uint32_t notZero) {
    return lossless::levelBytes(notZero) + countsOf(room, firstStream, firstStream + streams)
                                               .allBytes(lossless::makeLevelShifts(item.codec, item.type));
  }

  /// Into bytes that are 0.
  template <typename Crew, typename Lanes>
  CGX_BODY static void store(const Crew &crew, const Lanes &lanes, const EncodeItem &item,
                             const LosslessRoom &room, uint64_t stream,
                             const BlockPlan<LeveledMantissas> &plan, uint8_t *to) {
    const uint64_t first = stream / blockStreams * blockStreams;
    const LevelSections sections(lossless::makeLevelShifts(item.codec, item.type),
                                 countsOf(room, first, first + plan.streams));
    LevelPlaces<Lanes> places = {countsOf(room, first, stream)};
    const auto begin = uint64_t(to - item.body);
    forEachRowOfStream(item.elements, stream, [&](uint64_t row) {
      const uint32_t before = places.before.all();
      const PerLane<Lanes, uint32_t> levels = levelsOfRow(lanes, item, room, row),
                                     inLevel = places.next(lanes, levels);
      storeLevels(crew, lanes, item, levels, 8 * begin + 2 * before);
      lanes.forEach([&](uint32_t lane) {
        const uint32_t level = levels[lane];
        if (level == noLevel)
          return;
        const uint32_t bits = bitsOf(item, row + lane);
        const LevelSection section = sections.of(level);
        const uint32_t mantissa = cgx::restOf(bits) << 16 | (bits & 0xffff);
        addBits(crew, item, 8 * (begin + section.begin) + uint64_t(inLevel[lane]) * (24 - section.shift),
                mantissa >> section.shift);
      });
    });
  }

private:
  /// Bits of a row, in words of the body.
  struct Words {
    uint32_t of[4];
  };

  /// Adds 32 bits at most to those of the body from bit `at` on.
  template <typename Crew>
  CGX_BODY static void addBits(const Crew &crew, const EncodeItem &item, uint64_t at, uint32_t bits) {
    auto *words = reinterpret_cast<uint32_t *>(item.body) + at / 32;
    const uint64_t placed = uint64_t(bits) << at % 32;
    for (uint32_t word = 0; word < 2; ++word)
      if (const auto part = uint32_t(placed >> 32 * word); part != 0)
        crew.atomicAdd(words + word, part);
  }

  /// Two bits each, of those that have a level. What the lanes add to one word they put together first.
  template <typename Crew, typename Lanes>
  CGX_BODY static void storeLevels(const Crew &crew, const Lanes &lanes, const EncodeItem &item,
                                   const PerLane<Lanes, uint32_t> &levels, uint64_t at) {
    PerLane<Lanes, bool> isThere;
    lanes.forEach([&](uint32_t lane) { isThere[lane] = levels[lane] != noLevel; });
    const uint32_t there = lanes.ballot(isThere);
    PerLane<Lanes, Words> words;
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
            crew.atomicAdd(reinterpret_cast<uint32_t *>(item.body) + at / 32 + word, words[lane].of[word]);
    });
  }
};

/// Clears the bytes that levels and mantissas are added to, a warp for each stream and its share of a block.
struct ClearMantissas {
  static constexpr uint32_t sharedBytes = 0;
  LosslessEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const LosslessRoom &room = table.rooms[slice.item];
    if (!table.wereSound(item))
      return;
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t stream) {
      const uint64_t block = stream / blockStreams, inBlock = stream % blockStreams;
      const BlockPlan<LeveledMantissas> plan(item, room, block);
      if (plan.isRaw)
        return;
      uint8_t *begin = item.body + room.begins[block] + plan.mantissasBegin();
      lanes.forEach([&](uint32_t lane) {
        for (uint64_t at = inBlock * laneCount + lane; at < plan.mantissaBytes;
             at += plan.streams * laneCount)
          begin[at] = 0;
      });
    });
  }
};

/// What a payload of gcomp says of an element: what was coded, which the step behind reads as the input.
struct SentRounded {
  CGX_BODY static float load(const EncodeItem &item, uint64_t index) {
    return 0.0f + TensorInput::load(item, index);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_GCOMPENCODE_H
