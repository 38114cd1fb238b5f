//===-- LosslessSteps.h - The steps of lossless and gcomp ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_LOSSLESSSTEPS_H
#define CGX_KERNELS_CUDA_GROUP_LOSSLESSSTEPS_H

#include "GcompDecode.h"
#include "GcompEncode.h"
#include "GroupOn.h"
#include "Layers.h"
#include "SliceSizes.h"

namespace cgx::cuda {

inline bool isLossless(const cgx_codec &codec) { return codec.family == CGX_CODEC_LOSSLESS; }
inline bool isGcomp(const cgx_codec &codec) { return codec.family == CGX_CODEC_GCOMP; }
/// Exponents are entropy-coded.
inline bool hasExponentCode(const cgx_codec &codec) { return isLossless(codec) || isGcomp(codec); }

/// Slices of the items of a table whose codec `isWanted`, by what their indices are.
template <typename Item> struct LosslessSlices {
  const std::vector<Item> &items;
  bool (*isWanted)(const cgx_codec &);

  std::vector<Slice> whole() const {
    return slices(1, [](uint64_t) { return uint64_t(1); });
  }
  /// Runs whose exponents are counted.
  std::vector<Slice> runs() const {
    return slices(slice::exponentRuns, [](uint64_t elements) {
      const uint64_t apart = exponentRun * exponentStride(elements);
      return (elements + apart - 1) / apart;
    });
  }
  std::vector<Slice> elements() const {
    return slices(slice::elements, [](uint64_t elements) { return elements; });
  }
  /// Blocks, a thread or a warp for each.
  std::vector<Slice> blocks(uint64_t most) const { return slices(most, cgx_lossless_block_count); }
  /// Streams, a thread or a warp for each.
  std::vector<Slice> streams(uint64_t most) const { return slices(most, lossless::streamCount); }

private:
  template <typename CountOf> std::vector<Slice> slices(uint64_t most, const CountOf &countOf) const {
    return slicesOf(
        items, most, [&](const Item &item) { return isWanted(item.codec); },
        [&](const Item &item) { return Range{0, countOf(item.elements)}; });
  }
};

/// Memory of the items of a table whose exponents are coded; that of the others is empty.
template <typename Engine, typename Item>
std::vector<LosslessRoom> makeLosslessRooms(GroupOn<Engine> &group, const std::vector<Item> &items,
                                            bool encodes, bool decodes) {
  std::vector<LosslessRoom> rooms;
  for (const Item &item : items) {
    LosslessRoom &room = rooms.emplace_back();
    if (!hasExponentCode(item.codec))
      continue;
    room.code = group.template allocate<ExponentCode>(1);
    room.words = group.template allocate<uint16_t>(huffmanTableSize);
    room.streams = group.template allocate<StreamMeasure>(lossless::streamCount(item.elements));
    if (encodes) {
      room.counted = group.template allocate<ExponentCounts>(1);
      room.begins = group.template allocate<uint64_t>(cgx_lossless_block_count(item.elements));
    }
    if (decodes)
      room.symbols = group.template allocate<uint8_t>(item.elements);
    if (!isGcomp(item.codec))
      continue;
    room.levelCounts = group.template allocate<LevelCounts>(lossless::streamCount(item.elements));
    if (encodes) {
      room.coded = group.template allocate<uint8_t>(item.elements * cgx_element_bytes(item.type));
      room.levels = group.template allocate<uint8_t>(item.elements);
    }
  }
  return rooms;
}

/// The step that rounds what gcomp sends.
template <typename Engine>
void addRoundingStep(GroupOn<Engine> &group, const LosslessEncodeTable &table,
                     const std::vector<EncodeItem> &items) {
  group.addStep(RoundToLevels{table}, LosslessSlices<EncodeItem>{items, isGcomp}.elements());
}

/// The items as their exponents are coded, once that is done.
inline std::vector<EncodeItem> readingRounded(std::vector<EncodeItem> items,
                                              const std::vector<LosslessRoom> &rooms) {
  for (size_t i = 0; i < items.size(); ++i)
    if (isGcomp(items[i].codec)) {
      items[i].input = rooms[i].coded;
      items[i].source = sourceOf(items[i].type);
    }
  return items;
}

template <typename Engine>
void addLosslessEncodeSteps(GroupOn<Engine> &group, const LosslessEncodeTable &table,
                            const std::vector<EncodeItem> &items) {
  const LosslessSlices<EncodeItem> all = {items, hasExponentCode}, plain = {items, isLossless},
                                   leveled = {items, isGcomp};
  group.addStep(ClearCounts{table}, all.whole());
  group.addStep(CountExponents{table}, all.runs());
  group.addStep(MakeCode{table}, all.whole());
  group.addStep(MeasureStreams{table}, all.streams(slice::streamWarps));
  group.addStep(MeasureLevels{table}, leveled.streams(slice::streamWarps));
  group.addStep(PlaceBlocks<PlainMantissas>{table}, plain.whole());
  group.addStep(PlaceBlocks<LeveledMantissas>{table}, leveled.whole());
  group.addStep(StoreStreams<PlainMantissas>{table}, plain.streams(slice::streamThreads));
  group.addStep(StoreStreams<LeveledMantissas>{table}, leveled.streams(slice::streamThreads));
  group.addStep(ClearMantissas{table}, leveled.streams(slice::streamWarps));
  group.addStep(StoreRests<PlainMantissas>{table}, plain.streams(slice::streamWarps));
  group.addStep(StoreRests<LeveledMantissas>{table}, leveled.streams(slice::streamWarps));
}

/// The steps of items whose blocks have `Parts`, once their codes and levels are known.
template <Sink sink, typename Parts, typename Engine>
void addBlockDecodeSteps(GroupOn<Engine> &group, const LosslessDecodeTable &table,
                         const LosslessSlices<DecodeItem> &slices) {
  group.addStep(CheckBlocks<Parts>{table}, slices.blocks(slice::chunkThreads));
  group.addStep(ReadStreams<Parts>{table}, slices.streams(slice::streamThreads));
  group.addStep(MergeStreams<sink, Parts>{table}, slices.streams(slice::streamWarps));
}

template <Sink sink, typename Engine>
void addLosslessDecodeSteps(GroupOn<Engine> &group, const LosslessDecodeTable &table,
                            const std::vector<DecodeItem> &items) {
  const LosslessSlices<DecodeItem> all = {items, hasExponentCode}, plain = {items, isLossless},
                                   leveled = {items, isGcomp};
  group.addStep(BeginLossless{table}, all.whole());
  group.addStep(CountLevels{table}, leveled.blocks(slice::streamWarps));
  addBlockDecodeSteps<sink, PlainParts>(group, table, plain);
  addBlockDecodeSteps<sink, LeveledParts>(group, table, leveled);
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_LOSSLESSSTEPS_H
