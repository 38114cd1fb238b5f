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
#include "SliceSizes.h"
#include "SparseDecode.h"
#include "SparseEncode.h"

namespace cgx::cuda {

inline bool isTopk(const cgx_codec &codec) { return codec.family == CGX_CODEC_TOPK; }
inline bool isDrawn(const cgx_codec &codec) { return codec.family == CGX_CODEC_RANDK; }
inline bool isAdaptive(const cgx_codec &codec) { return codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD; }
inline bool isChosen(const cgx_codec &codec) { return isTopk(codec) || isThreshold(codec); }
inline bool isSparse(const cgx_codec &codec) { return isChosen(codec) || isDrawn(codec); }

/// Elements that a payload may send, at most.
inline uint64_t mostSent(const cgx_codec &codec, uint64_t elements) {
  return cgx_payload_is_fixed(&codec) ? cgx_sparse_count(&codec, elements) : elements;
}

/// Slices of the items of a table, by what their indices are.
template <typename Item> struct SparseSlices {
  const std::vector<Item> &items;
  using IsWanted = bool(const cgx_codec &);

  std::vector<Slice> whole(IsWanted *isWanted) const {
    return slices(isWanted, 1, [](const Item &) { return uint64_t(1); });
  }
  std::vector<Slice> elements(IsWanted *isWanted) const {
    return slices(isWanted, slice::searchedElements, [](const Item &item) { return item.elements; });
  }
  std::vector<Slice> buckets(IsWanted *isWanted) const {
    return slices(isWanted, slice::buckets,
                  [](const Item &item) { return cgx_bucket_count(&item.codec, item.elements); });
  }
  std::vector<Slice> chunks(IsWanted *isWanted, uint64_t most) const {
    return slices(isWanted, most, [](const Item &item) { return chunkCount(item.elements); });
  }
  /// A bit an element is never exceeded.
  std::vector<Slice> positionBytes(IsWanted *isWanted) const {
    return slices(isWanted, slice::codes, [](const Item &item) { return (item.elements + 7) / 8; });
  }
  std::vector<Slice> sent(IsWanted *isWanted) const {
    return slices(isWanted, slice::codes,
                  [](const Item &item) { return mostSent(item.codec, item.elements); });
  }

private:
  template <typename CountOf>
  std::vector<Slice> slices(IsWanted *isWanted, uint64_t most, const CountOf &countOf) const {
    return slicesOf(
        items, most, [&](const Item &item) { return isWanted(item.codec); },
        [&](const Item &item) { return Range{0, countOf(item)}; });
  }
};

/// Memory of the sparse items of a table, for their encoding or decoding; that of the others is empty.
template <typename Engine, typename Item>
const SparseRoom *makeSparseRooms(GroupOn<Engine> &group, const std::vector<Item> &items) {
  std::vector<SparseRoom> rooms;
  for (const Item &item : items) {
    SparseRoom &room = rooms.emplace_back();
    if (!isSparse(item.codec))
      continue;
    room.selection = group.template allocate<Selection>(1);
    if (isDrawn(item.codec))
      continue;
    room.most = mostSent(item.codec, item.elements);
    room.positions = group.template allocate<uint32_t>(room.most);
    room.chunkCount = chunkCount(item.elements);
    room.chunks = group.template allocate<ChunkCount>(room.chunkCount);
    if (isTopk(item.codec))
      room.histogram = group.template allocate<uint32_t>(digitCount);
    if (isAdaptive(item.codec))
      room.cuts = group.template allocate<uint32_t>(cgx_bucket_count(&item.codec, item.elements));
  }
  return group.upload(rooms);
}

template <typename Engine>
void addSparseEncodeSteps(GroupOn<Engine> &group, const SparseEncodeTable &table,
                          const std::vector<EncodeItem> &items) {
  const SparseSlices<EncodeItem> slices = {items};
  for (uint32_t pass = 0; pass < passCount; ++pass) {
    group.addStep(ClearSelection{table, pass}, slices.whole(pass == 0 ? isSparse : isTopk));
    group.addStep(CountDigits{table, pass}, slices.elements(isTopk));
    group.addStep(FindDigit{table, pass}, slices.whole(isTopk));
  }
  group.addStep(FindCuts{table}, slices.buckets(isAdaptive));
  group.addStep(CountChosen{table}, slices.chunks(isChosen, slice::chunks));
  group.addStep(ScanChosen{table}, slices.whole(isChosen));
  group.addStep(StoreChosen{table}, slices.chunks(isChosen, slice::chunks));
  group.addStep(StorePositions{table}, slices.positionBytes(isChosen));
  group.addStep(FindSpoiled{table}, slices.elements(isDrawn));
  group.addStep(StoreDrawn{table}, slices.sent(isDrawn));
}

template <Sink sink, typename Engine>
void addSparseDecodeSteps(GroupOn<Engine> &group, const SparseDecodeTable &table,
                          const std::vector<DecodeItem> &items) {
  const SparseSlices<DecodeItem> slices = {items};
  group.addStep(BeginSparse{table}, slices.whole(isSparse));
  group.addStep(CountPositions{table}, slices.chunks(isChosen, slice::chunks));
  group.addStep(ScanPositions{table}, slices.whole(isChosen));
  group.addStep(ReadPositions{table}, slices.chunks(isChosen, slice::chunkThreads));
  group.addStep(CheckPositions{table}, slices.sent(isChosen));
  group.addStep(FillRest<sink>{table}, slices.elements(isSparse));
  group.addStep(PlaceSent<sink>{table}, slices.sent(isSparse));
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_SPARSESTEPS_H
