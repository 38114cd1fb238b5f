//===-- LosslessSteps.h - The steps of lossless --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_LOSSLESSSTEPS_H
#define CGX_KERNELS_CUDA_GROUP_LOSSLESSSTEPS_H

#include "GroupOn.h"
#include "LosslessDecode.h"
#include "LosslessEncode.h"
#include "SliceSizes.h"

namespace cgx::cuda {

inline bool isLossless(const cgx_codec &codec) { return codec.family == CGX_CODEC_LOSSLESS; }

/// Slices of the items of a table that are lossless, by what their indices are.
template <typename Item> struct LosslessSlices {
  const std::vector<Item> &items;

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
  std::vector<Slice> blocks() const { return slices(slice::chunkThreads, cgx_lossless_block_count); }
  /// Streams, a thread or a warp for each.
  std::vector<Slice> streams(uint64_t most) const { return slices(most, lossless::streamCount); }

private:
  template <typename CountOf> std::vector<Slice> slices(uint64_t most, const CountOf &countOf) const {
    return slicesOf(
        items, most, [](const Item &item) { return isLossless(item.codec); },
        [&](const Item &item) { return Range{0, countOf(item.elements)}; });
  }
};

/// Memory of the lossless items of a table; that of the others is empty.
template <typename Engine, typename Item>
const LosslessRoom *makeLosslessRooms(GroupOn<Engine> &group, const std::vector<Item> &items, bool encodes,
                                      bool decodes) {
  std::vector<LosslessRoom> rooms;
  for (const Item &item : items) {
    LosslessRoom &room = rooms.emplace_back();
    if (!isLossless(item.codec))
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
  }
  return group.upload(rooms);
}

template <typename Engine>
void addLosslessEncodeSteps(GroupOn<Engine> &group, const LosslessEncodeTable &table,
                            const std::vector<EncodeItem> &items) {
  const LosslessSlices<EncodeItem> slices = {items};
  group.addStep(ClearCounts{table}, slices.whole());
  group.addStep(CountExponents{table}, slices.runs());
  group.addStep(MakeCode{table}, slices.whole());
  group.addStep(MeasureStreams{table}, slices.streams(slice::streamWarps));
  group.addStep(PlaceBlocks{table}, slices.whole());
  group.addStep(StoreStreams{table}, slices.streams(slice::streamThreads));
  group.addStep(StoreRests{table}, slices.streams(slice::streamWarps));
}

template <Sink sink, typename Engine>
void addLosslessDecodeSteps(GroupOn<Engine> &group, const LosslessDecodeTable &table,
                            const std::vector<DecodeItem> &items) {
  const LosslessSlices<DecodeItem> slices = {items};
  group.addStep(BeginLossless{table}, slices.whole());
  group.addStep(CheckBlocks{table}, slices.blocks());
  group.addStep(ReadStreams{table}, slices.streams(slice::streamThreads));
  group.addStep(MergeStreams<sink>{table}, slices.streams(slice::streamWarps));
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_LOSSLESSSTEPS_H
