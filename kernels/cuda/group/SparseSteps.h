//===-- SparseSteps.h - The steps of topk, randk and threshold ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_SPARSESTEPS_H
#define CGX_KERNELS_CUDA_GROUP_SPARSESTEPS_H

#include "GroupOn.h"
#include "SparseDecode.h"
#include "SparseEncode.h"

namespace cgx::cuda {

constexpr uint64_t chunksOfSlice = 16;
constexpr uint64_t valuesOfSlice = 4096;

inline bool isSparse(const cgx_codec &codec) {
  return codec.family == CGX_CODEC_TOPK || codec.family == CGX_CODEC_RANDK ||
         codec.family == CGX_CODEC_THRESHOLD || codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD;
}

/// Elements that a payload may send, at most.
inline uint64_t mostSent(const cgx_codec &codec, uint64_t elements) {
  return cgx_payload_is_fixed(&codec) ? cgx_sparse_count(&codec, elements) : elements;
}

/// Bytes of coded positions, at most: a bit an element is never exceeded.
inline uint64_t mostPositionBytes(uint64_t elements) { return (elements + 7) / 8; }

template <typename Item> bool isSparseItem(const Item &item) { return isSparse(item.codec); }
template <typename Item> bool isDrawnItem(const Item &item) { return item.codec.family == CGX_CODEC_RANDK; }
template <typename Item> bool isChosenItem(const Item &item) {
  return isSparse(item.codec) && !isDrawnItem(item);
}
template <typename Item> bool isTopkItem(const Item &item) { return item.codec.family == CGX_CODEC_TOPK; }
template <typename Item> Range oneOf(const Item &) { return {0, 1}; }
template <typename Item> Range elementsOf(const Item &item) { return {0, item.elements}; }
template <typename Item> Range sentOf(const Item &item) { return {0, mostSent(item.codec, item.elements)}; }

inline uint64_t chunkCount(uint64_t elements, uint64_t elementsOfChunk) {
  return (elements + elementsOfChunk - 1) / elementsOfChunk;
}

/// Memory of the sparse items of a table; that of the others is empty.
template <typename Engine, typename Item>
const SparseRoom *makeRooms(GroupOn<Engine> &group, const std::vector<Item> &items,
                            uint64_t elementsOfChunk) {
  std::vector<SparseRoom> rooms;
  for (const Item &item : items) {
    SparseRoom &room = rooms.emplace_back();
    if (!isSparse(item.codec))
      continue;
    room.selection = group.template allocate<Selection>(1);
    if (isDrawnItem(item))
      continue;
    room.most = mostSent(item.codec, item.elements);
    room.positions = group.template allocate<uint32_t>(room.most);
    room.chunkCount = chunkCount(item.elements, elementsOfChunk);
    room.chunks = group.template allocate<ChunkCount>(room.chunkCount);
    if (item.codec.family == CGX_CODEC_TOPK)
      room.histogram = group.template allocate<uint32_t>(digitCount);
    if (item.codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD)
      room.cuts = group.template allocate<uint32_t>(cgx_bucket_count(&item.codec, item.elements));
  }
  return group.upload(rooms);
}

template <typename Engine>
void addSparseEncodeSteps(GroupOn<Engine> &group, const EncodeTable &whole,
                          const std::vector<EncodeItem> &items) {
  if (std::none_of(items.begin(), items.end(), isSparseItem<EncodeItem>))
    return;
  const SparseEncodeTable table = {whole.items, nullptr, makeRooms(group, items, chunkElements)};
  const auto slices = [&](uint64_t most, const auto &isWanted, const auto &rangeOf) {
    return slicesOf(items, most, isWanted, rangeOf);
  };
  const auto chunksOf = [](const EncodeItem &item) {
    return Range{0, chunkCount(item.elements, chunkElements)};
  };
  for (uint32_t pass = 0; pass < passCount; ++pass) {
    if (pass == 0)
      group.addStep(ClearSelection{table, pass}, slices(1, isSparseItem<EncodeItem>, oneOf<EncodeItem>));
    else
      group.addStep(ClearSelection{table, pass}, slices(1, isTopkItem<EncodeItem>, oneOf<EncodeItem>));
    group.addStep(CountDigits{table, pass}, slices(16384, isTopkItem<EncodeItem>, elementsOf<EncodeItem>));
    group.addStep(FindDigit{table, pass}, slices(1, isTopkItem<EncodeItem>, oneOf<EncodeItem>));
  }
  group.addStep(
      FindCuts{table},
      slices(
          64, [](const EncodeItem &item) { return item.codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD; },
          [](const EncodeItem &item) { return Range{0, cgx_bucket_count(&item.codec, item.elements)}; }));
  group.addStep(CountChosen{table}, slices(chunksOfSlice, isChosenItem<EncodeItem>, chunksOf));
  group.addStep(ScanChosen{table}, slices(1, isChosenItem<EncodeItem>, oneOf<EncodeItem>));
  group.addStep(StoreChosen{table}, slices(chunksOfSlice, isChosenItem<EncodeItem>, chunksOf));
  group.addStep(StorePositions{table},
                slices(valuesOfSlice, isChosenItem<EncodeItem>,
                       [](const EncodeItem &item) { return Range{0, mostPositionBytes(item.elements)}; }));
  group.addStep(FindSpoiled{table}, slices(16384, isDrawnItem<EncodeItem>, elementsOf<EncodeItem>));
  group.addStep(StoreDrawn{table}, slices(valuesOfSlice, isDrawnItem<EncodeItem>, sentOf<EncodeItem>));
}

template <Sink sink, typename Engine>
void addSparseDecodeSteps(GroupOn<Engine> &group, const DecodeTable &whole,
                          const std::vector<DecodeItem> &items) {
  if (std::none_of(items.begin(), items.end(), isSparseItem<DecodeItem>))
    return;
  const SparseDecodeTable table = {whole.items, whole.payloads, whole.errors,
                                   makeRooms(group, items, chunkBytes * 8)};
  const auto slices = [&](uint64_t most, const auto &isWanted, const auto &rangeOf) {
    return slicesOf(items, most, isWanted, rangeOf);
  };
  const auto chunksOf = [](const DecodeItem &item) {
    return Range{0, chunkCount(item.elements, chunkBytes * 8)};
  };
  group.addStep(BeginSparse{table}, slices(1, isSparseItem<DecodeItem>, oneOf<DecodeItem>));
  group.addStep(CountPositions{table}, slices(chunksOfSlice, isChosenItem<DecodeItem>, chunksOf));
  group.addStep(ScanPositions{table}, slices(1, isChosenItem<DecodeItem>, oneOf<DecodeItem>));
  group.addStep(ReadPositions{table}, slices(256, isChosenItem<DecodeItem>, chunksOf));
  group.addStep(CheckPositions{table}, slices(valuesOfSlice, isChosenItem<DecodeItem>, sentOf<DecodeItem>));
  group.addStep(RefuseMalformed{table}, slices(1, isChosenItem<DecodeItem>, oneOf<DecodeItem>));
  group.addStep(FillRest<sink>{table}, slices(16384, isSparseItem<DecodeItem>, elementsOf<DecodeItem>));
  group.addStep(PlaceSent<sink>{table}, slices(valuesOfSlice, isSparseItem<DecodeItem>, sentOf<DecodeItem>));
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_SPARSESTEPS_H
