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
#include "RangeSizes.h"

namespace cgx::cuda {

inline bool isLossless(const cgx_codec &codec) { return codec.family == CGX_CODEC_LOSSLESS; }
inline bool isGcomp(const cgx_codec &codec) { return codec.family == CGX_CODEC_GCOMP; }
/// Returns whether exponents are entropy-coded.
inline bool hasExponentCode(const cgx_codec &codec) { return isLossless(codec) || isGcomp(codec); }

/// The tile ranges of descriptors for whose codec `isWanted` holds, by the kind of their indices.
template <typename Descriptor> struct LosslessRanges {
  const std::vector<Descriptor> &descs;
  bool (*isWanted)(const cgx_codec &);

  std::vector<TileRange> whole() const {
    return ranges(1, [](uint64_t) { return uint64_t(1); });
  }
  /// Returns ranges of runs whose exponents are counted.
  std::vector<TileRange> runs() const {
    return ranges(range::exponentRuns, [](uint64_t elements) {
      const uint64_t apart = exponentRun * exponentStride(elements);
      return (elements + apart - 1) / apart;
    });
  }
  std::vector<TileRange> elements() const {
    return ranges(range::elements, [](uint64_t elements) { return elements; });
  }
  /// Returns ranges of blocks, which take a thread or a warp each.
  std::vector<TileRange> blocks(uint64_t most) const { return ranges(most, cgx_lossless_block_count); }
  /// Returns ranges of streams, which take a thread or a warp each.
  std::vector<TileRange> streams(uint64_t most) const { return ranges(most, lossless::streamCount); }

private:
  template <typename CountOf> std::vector<TileRange> ranges(uint64_t most, const CountOf &countOf) const {
    return rangesOf(
        descs, most, [&](const Descriptor &desc) { return isWanted(desc.codec); },
        [&](const Descriptor &desc) { return Range{0, countOf(desc.elements)}; });
  }
};

/// Allocates workspaces for the descriptors of a table. Descriptors without an exponent code get an empty
/// one.
template <typename Backend, typename Descriptor>
std::vector<LosslessWorkspace> makeLosslessWorkspaces(GroupOn<Backend> &group,
                                                      const std::vector<Descriptor> &descs, bool encodes,
                                                      bool decodes) {
  std::vector<LosslessWorkspace> workspaces;
  for (const Descriptor &desc : descs) {
    LosslessWorkspace &workspace = workspaces.emplace_back();
    if (!hasExponentCode(desc.codec))
      continue;
    workspace.code = group.template allocate<ExponentCode>(1);
    workspace.words = group.template allocate<uint16_t>(huffmanTableSize);
    workspace.streams = group.template allocate<StreamMeasure>(lossless::streamCount(desc.elements));
    if (encodes) {
      workspace.counted = group.template allocate<ExponentCounts>(1);
      workspace.begins = group.template allocate<uint64_t>(cgx_lossless_block_count(desc.elements));
    }
    if (decodes)
      workspace.symbols = group.template allocate<uint8_t>(desc.elements);
    if (!isGcomp(desc.codec))
      continue;
    workspace.levelCounts = group.template allocate<LevelCounts>(lossless::streamCount(desc.elements));
    if (encodes) {
      workspace.coded = group.template allocate<uint8_t>(desc.elements * cgx_element_bytes(desc.type));
      workspace.levels = group.template allocate<uint8_t>(desc.elements);
    }
  }
  return workspaces;
}

/// Adds the step that rounds what gcomp sends.
template <typename Backend>
void addRoundingStep(GroupOn<Backend> &group, const LosslessEncodeTable &table,
                     const std::vector<EncodeDescriptor> &descs) {
  group.addStep(RoundToLevels{table}, LosslessRanges<EncodeDescriptor>{descs, isGcomp}.elements());
}

/// Returns the descriptors as their exponents are coded after rounding.
inline std::vector<EncodeDescriptor> readingRounded(std::vector<EncodeDescriptor> descs,
                                                    const std::vector<LosslessWorkspace> &workspaces) {
  for (size_t i = 0; i < descs.size(); ++i)
    if (isGcomp(descs[i].codec)) {
      descs[i].input = workspaces[i].coded;
      descs[i].source = sourceOf(descs[i].type);
    }
  return descs;
}

template <typename Backend>
void addLosslessEncodeSteps(GroupOn<Backend> &group, const LosslessEncodeTable &table,
                            const std::vector<EncodeDescriptor> &descs) {
  const LosslessRanges<EncodeDescriptor> all = {descs, hasExponentCode}, plain = {descs, isLossless},
                                         leveled = {descs, isGcomp};
  group.addStep(ClearCounts{table}, all.whole());
  group.addStep(CountExponents{table}, all.runs());
  group.addStep(MakeCode{table}, all.whole());
  group.addStep(MeasureStreams{table}, all.streams(range::streamWarps));
  group.addStep(MeasureLevels{table}, leveled.streams(range::streamWarps));
  group.addStep(PlaceBlocks<PlainMantissas>{table}, plain.whole());
  group.addStep(PlaceBlocks<LeveledMantissas>{table}, leveled.whole());
  group.addStep(StoreStreams<PlainMantissas>{table}, plain.streams(range::streamThreads));
  group.addStep(StoreStreams<LeveledMantissas>{table}, leveled.streams(range::streamThreads));
  group.addStep(ClearMantissas{table}, leveled.streams(range::streamWarps));
  group.addStep(StoreRests<PlainMantissas>{table}, plain.streams(range::streamWarps));
  group.addStep(StoreRests<LeveledMantissas>{table}, leveled.streams(range::streamWarps));
}

/// Adds the steps that decode the blocks of descriptors with `Parts`, after their codes and levels are known.
template <Sink sink, typename Parts, typename Backend>
void addBlockDecodeSteps(GroupOn<Backend> &group, const LosslessDecodeTable &table,
                         const LosslessRanges<DecodeDescriptor> &ranges) {
  group.addStep(CheckBlocks<Parts>{table}, ranges.blocks(range::chunkThreads));
  group.addStep(ReadStreams<Parts>{table}, ranges.streams(range::streamThreads));
  group.addStep(MergeStreams<sink, Parts>{table}, ranges.streams(range::streamWarps));
}

template <Sink sink, typename Backend>
void addLosslessDecodeSteps(GroupOn<Backend> &group, const LosslessDecodeTable &table,
                            const std::vector<DecodeDescriptor> &descs) {
  const LosslessRanges<DecodeDescriptor> all = {descs, hasExponentCode}, plain = {descs, isLossless},
                                         leveled = {descs, isGcomp};
  group.addStep(BeginLossless{table}, all.whole());
  group.addStep(CountLevels{table}, leveled.blocks(range::streamWarps));
  addBlockDecodeSteps<sink, PlainParts>(group, table, plain);
  addBlockDecodeSteps<sink, LeveledParts>(group, table, leveled);
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_LOSSLESSSTEPS_H
