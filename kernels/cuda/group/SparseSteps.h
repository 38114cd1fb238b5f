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
#include "RangeSizes.h"
#include "SparseDecode.h"
#include "SparseEncode.h"
#include "TopkLevelsDecode.h"
#include "TopkLevelsEncode.h"

namespace cgx::cuda {

inline bool isTopk(const cgx_codec &codec) { return codec.family == CGX_CODEC_TOPK && codec.bits == 0; }
inline bool isDrawn(const cgx_codec &codec) { return codec.family == CGX_CODEC_RANDK; }
inline bool isAdaptive(const cgx_codec &codec) { return codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD; }
inline bool isChosen(const cgx_codec &codec) { return isTopk(codec) || isThreshold(codec); }
inline bool sendsElements(const cgx_codec &codec) { return isChosen(codec) || isDrawn(codec); }
inline bool isSparse(const cgx_codec &codec) { return sendsElements(codec) || isTopkLevels(codec); }

/// Returns the most elements that a payload may send.
inline uint64_t mostSent(const cgx_codec &codec, uint64_t elements) {
  if (isTopkLevels(codec))
    return topkLevelsSent(codec, elements);
  return cgx_payload_is_fixed(&codec) ? cgx_sparse_count(&codec, elements) : elements;
}

/// The tile ranges of descriptors, by the kind of their indices.
template <typename Descriptor> struct SparseRanges {
  const std::vector<Descriptor> &descs;
  using IsWanted = bool(const cgx_codec &);

  std::vector<TileRange> whole(IsWanted *isWanted) const {
    return ranges(isWanted, 1, [](const Descriptor &) { return uint64_t(1); });
  }
  std::vector<TileRange> elements(IsWanted *isWanted) const {
    return ranges(isWanted, range::searchedElements, [](const Descriptor &desc) { return desc.elements; });
  }
  std::vector<TileRange> buckets(IsWanted *isWanted, uint64_t most) const {
    return ranges(isWanted, most,
                  [](const Descriptor &desc) { return cgx_bucket_count(&desc.codec, desc.elements); });
  }
  std::vector<TileRange> chunks(IsWanted *isWanted, uint64_t most) const {
    return ranges(isWanted, most, [](const Descriptor &desc) { return chunkCount(desc.elements); });
  }
  /// Returns ranges of bytes of positions, of which there is at most one bit an element.
  std::vector<TileRange> positionBytes(IsWanted *isWanted) const {
    return ranges(isWanted, range::codes, [](const Descriptor &desc) { return (desc.elements + 7) / 8; });
  }
  std::vector<TileRange> sent(IsWanted *isWanted) const {
    return ranges(isWanted, range::codes,
                  [](const Descriptor &desc) { return mostSent(desc.codec, desc.elements); });
  }

private:
  template <typename CountOf>
  std::vector<TileRange> ranges(IsWanted *isWanted, uint64_t most, const CountOf &countOf) const {
    return rangesOf(
        descs, most, [&](const Descriptor &desc) { return isWanted(desc.codec); },
        [&](const Descriptor &desc) { return Range{0, countOf(desc)}; });
  }
};

/// Allocates workspaces for the descriptors of a table, for encoding or decoding. Descriptors that are not
/// sparse get an empty one.
template <typename Backend, typename Descriptor>
const SparseWorkspace *makeSparseWorkspaces(GroupOn<Backend> &group, const std::vector<Descriptor> &descs) {
  std::vector<SparseWorkspace> workspaces;
  for (const Descriptor &desc : descs) {
    SparseWorkspace &workspace = workspaces.emplace_back();
    if (!isSparse(desc.codec))
      continue;
    workspace.selection = group.template allocate<Selection>(1);
    if (isDrawn(desc.codec))
      continue;
    workspace.positions = group.template allocate<uint32_t>(mostSent(desc.codec, desc.elements));
    if (isTopkLevels(desc.codec))
      continue;
    workspace.chunkCount = chunkCount(desc.elements);
    workspace.chunks = group.template allocate<ChunkCount>(workspace.chunkCount);
    if (isTopk(desc.codec))
      workspace.histogram = group.template allocate<uint32_t>(digitCount);
    if (isAdaptive(desc.codec))
      workspace.cuts = group.template allocate<uint32_t>(cgx_bucket_count(&desc.codec, desc.elements));
  }
  return group.upload(workspaces);
}

template <typename Backend>
void addSparseEncodeSteps(GroupOn<Backend> &group, const SparseEncodeTable &table,
                          const std::vector<EncodeDescriptor> &descs) {
  const SparseRanges<EncodeDescriptor> ranges = {descs};
  for (uint32_t pass = 0; pass < passCount; ++pass) {
    group.addStep(ClearSelection{table, pass}, ranges.whole(pass == 0 ? sendsElements : isTopk));
    group.addStep(CountDigits{table, pass}, ranges.elements(isTopk));
    group.addStep(FindDigit{table, pass}, ranges.whole(isTopk));
  }
  group.addStep(FindCuts{table}, ranges.buckets(isAdaptive, range::buckets));
  group.addStep(CountChosen{table}, ranges.chunks(isChosen, range::chunks));
  group.addStep(ScanChosen{table}, ranges.whole(isChosen));
  group.addStep(StoreChosen{table}, ranges.chunks(isChosen, range::chunks));
  group.addStep(StorePositions{table}, ranges.positionBytes(isChosen));
  group.addStep(FindSpoiled{table}, ranges.elements(isDrawn));
  group.addStep(StoreDrawn{table}, ranges.sent(isDrawn));
  group.addStep(ChooseInBuckets{table}, ranges.buckets(isTopkLevels, range::largeBuckets));
  group.addStep(StoreBuckets{table}, ranges.buckets(isTopkLevels, range::largeBuckets));
}

/// Adds the steps that subtract what payloads send from the sums they were made from.
template <typename Backend>
void addTakeSentSteps(GroupOn<Backend> &group, const SparseEncodeTable &table,
                      const std::vector<EncodeDescriptor> &descs) {
  const auto hasFeedback = [](const EncodeDescriptor &desc) { return desc.residual.values != nullptr; };
  group.addStep(
      TakeSent{table},
      rangesOf(
          descs, range::elements,
          [&](const EncodeDescriptor &desc) { return sendsElements(desc.codec) && hasFeedback(desc); },
          [](const EncodeDescriptor &desc) { return Range{0, mostSent(desc.codec, desc.elements)}; }));
  group.addStep(TakeSentLevels{table}, rangesOf(
                                           descs, range::largeBuckets,
                                           [&](const EncodeDescriptor &desc) {
                                             return isTopkLevels(desc.codec) && hasFeedback(desc);
                                           },
                                           [](const EncodeDescriptor &desc) {
                                             return Range{0, cgx_bucket_count(&desc.codec, desc.elements)};
                                           }));
}

template <Sink sink, typename Backend>
void addSparseDecodeSteps(GroupOn<Backend> &group, const SparseDecodeTable &table,
                          const std::vector<DecodeDescriptor> &descs) {
  const SparseRanges<DecodeDescriptor> ranges = {descs};
  group.addStep(BeginSparse{table}, ranges.whole(isSparse));
  group.addStep(CountPositions{table}, ranges.chunks(isChosen, range::chunks));
  group.addStep(ScanPositions{table}, ranges.whole(isChosen));
  group.addStep(ReadPositions{table}, ranges.chunks(isChosen, range::chunkThreads));
  group.addStep(CheckPositions{table}, ranges.sent(isChosen));
  group.addStep(ReadBuckets{table}, ranges.buckets(isTopkLevels, range::largeBuckets));
  group.addStep(FillRest<sink>{table}, ranges.elements(isSparse));
  group.addStep(PlaceSent<sink>{table}, ranges.sent(sendsElements));
  group.addStep(PlaceLevels<sink>{table}, ranges.buckets(isTopkLevels, range::largeBuckets));
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_SPARSESTEPS_H
