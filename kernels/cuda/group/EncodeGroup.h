//===-- EncodeGroup.h - Groups that encode -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_ENCODEGROUP_H
#define CGX_KERNELS_CUDA_GROUP_ENCODEGROUP_H

#include "Checksums.h"
#include "FamilyList.h"
#include "GroupOn.h"
#include "Layers.h"
#include "LosslessSteps.h"
#include "SparseSteps.h"
#include "Sums.h"
#include "TileChoices.h"
#include "TileEncode.h"
#include "cgx/kernels/codecs.h"

namespace cgx::cuda {

inline bool hasFeedback(const EncodeDescriptor &desc) { return desc.residual.values != nullptr; }

/// Returns the elements of a descriptor that do not go through tiles.
inline Range elementsBehindTiles(const EncodeDescriptor &desc) {
  return {elementsOfTiles(desc), desc.elements};
}

/// Adds the steps of tiles, one for each kernel. Each descriptor belongs to one of them.
template <bool isSum, typename Backend>
void addTileSteps(GroupOn<Backend> &group, const EncodeTable &table,
                  const std::vector<EncodeDescriptor> &descs) {
  forEachTileChoice<isSum>([&](auto shape, auto choice) {
    using Shape = decltype(shape);
    group.addStep(EncodeTiles<Shape::bits, Shape::bucketRows, isSum, decltype(choice)>{table},
                  rangesOf(
                      descs, range::tiles / warpTiles(Shape::bits),
                      [&](const EncodeDescriptor &desc) {
                        return shape.isOf(desc) && isChosen<Shape, isSum>(choice, desc);
                      },
                      [](const EncodeDescriptor &desc) {
                        constexpr uint32_t together = warpTiles(Shape::bits);
                        return Range{0, (desc.tiles.count + together - 1) / together};
                      }));
  });
}

/// Adds the steps of elements that are cast in runs.
template <bool isSum, typename Backend>
void addRunSteps(GroupOn<Backend> &group, const EncodeTable &table,
                 const std::vector<EncodeDescriptor> &descs) {
  forEachRunType([&](auto type, auto isBfloat) {
    group.addStep(EncodeRuns<decltype(type)::value, decltype(isBfloat)::value, isSum>{table},
                  rangesOf(
                      descs, range::runs,
                      [&](const EncodeDescriptor &desc) {
                        return desc.type == type && (desc.codec.format == CGX_FORMAT_BF16) == isBfloat;
                      },
                      [](const EncodeDescriptor &desc) { return Range{0, desc.runs}; }));
  });
}

/// Adds the steps of the descriptors of one dense family for which `isWanted` holds, except for tiles.
template <typename Input, typename Family, typename Backend, typename IsWanted>
void addFamilySteps(GroupOn<Backend> &group, const EncodeTable &table,
                    const std::vector<EncodeDescriptor> &descs, const IsWanted &isWanted) {
  const auto isOurs = [&](const EncodeDescriptor &desc) {
    return isOf<Family>(desc.codec) && isWanted(desc);
  };
  if constexpr (Family::hasBuckets)
    group.addStep(StoreScales<Family, Input>{table},
                  rangesOf(descs, range::buckets, isOurs, [](const EncodeDescriptor &desc) {
                    return Range{elementsOfTiles(desc) / desc.codec.bucket,
                                 cgx_bucket_count(&desc.codec, desc.elements)};
                  }));
  if constexpr (std::is_same_v<Family, Quantize>)
    group.addStep(LearnTable<Input>{table}, rangesOf(
                                                descs, 1,
                                                [&](const EncodeDescriptor &desc) {
                                                  return isOurs(desc) &&
                                                         desc.codec.levels == CGX_LEVELS_LEARNED;
                                                },
                                                [](const EncodeDescriptor &) { return Range{0, 1}; }));
  group.addStep(StoreCodes<Family, Input>{table},
                rangesOf(descs, range::codes, isOurs, [](const EncodeDescriptor &desc) {
                  const uint64_t begin = elementsOfTiles(desc);
                  return Range{desc.runs != 0 ? begin : begin * desc.codec.bits / 16,
                               Family::codeCount(desc)};
                }));
}

/// Allocates memory for the sums of descriptors that need them before they are encoded.
template <typename Backend, typename NeedsSums>
void giveSums(GroupOn<Backend> &group, std::vector<EncodeDescriptor> &descs, const NeedsSums &needsSums) {
  for (EncodeDescriptor &desc : descs) {
    const Range range = elementsBehindTiles(desc);
    if (!needsSums(desc) || range.begin == range.end)
      continue;
    // Indices count from the first element of the tensor; sums of tiles are never read.
    desc.sums = group.template allocate<float>(range.end - range.begin);
    if (desc.sums)
      desc.sums -= range.begin;
  }
}

/// Returns the descriptors as they are encoded after their sums are computed.
inline std::vector<EncodeDescriptor> readingSums(std::vector<EncodeDescriptor> descs) {
  for (EncodeDescriptor &desc : descs)
    if (desc.sums) {
      desc.readsSums = true;
      desc.input = desc.sums;
      desc.source = sumSourceOf(desc.type);
    }
  return descs;
}

/// Adds the steps that store losses as residuals, for descriptors that read sums. `Sent` gives the values
/// that were sent.
template <typename Sent, typename Backend, typename IsWanted>
void addLossStep(GroupOn<Backend> &group, const EncodeTable &table,
                 const std::vector<EncodeDescriptor> &descs, const IsWanted &isWanted) {
  group.addStep(StoreLosses<Sent>{table},
                rangesOf(
                    descs, range::residualBlocks,
                    [&](const EncodeDescriptor &desc) { return hasFeedback(desc) && isWanted(desc.codec); },
                    [](const EncodeDescriptor &desc) {
                      return Range{elementsOfTiles(desc) / residualBlock,
                                   (desc.elements + residualBlock - 1) / residualBlock};
                    }));
}

/// Adds the steps of inputs in memory, which are tensors or sums, and of their losses.
template <typename Backend>
void addGeneralSteps(GroupOn<Backend> &group, const EncodeTable &table,
                     const std::vector<EncodeDescriptor> &descs, const SparseWorkspace *sparseWorkspaces,
                     const std::vector<LosslessWorkspace> &losslessWorkspaces) {
  const auto isInMemory = [](const EncodeDescriptor &desc) { return desc.input != nullptr; };
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    addFamilySteps<TensorInput, Family>(group, table, descs, isInMemory);
    if constexpr (!std::is_same_v<Family, Identity>)
      addLossStep<SentBy<Family>>(group, table, descs, isOf<Family>);
  });
  addSparseEncodeSteps(group, {table, sparseWorkspaces}, descs);
  const LosslessWorkspace *workspaces = group.upload(losslessWorkspaces);
  addRoundingStep(group, {table, workspaces}, descs);
  const std::vector<EncodeDescriptor> rounded = readingRounded(descs, losslessWorkspaces);
  const EncodeTable roundedTable = {group.upload(rounded), nullptr, table.payloads, table.errors};
  addLosslessEncodeSteps(group, {roundedTable, workspaces}, rounded);
  addTakeSentSteps(group, {table, sparseWorkspaces}, descs);
  addLossStep<SentRest>(group, table, descs, isSparse);
  addLossStep<SentWhole>(group, table, descs, isLossless);
  addLossStep<SentRounded>(group, roundedTable, rounded, isGcomp);
}

/// Checks layers and returns the descriptors of those that are not empty.
template <typename Layer, typename Check>
std::vector<EncodeDescriptor> encodeDescriptors(std::span<const Layer> layers, Outcome &outcome,
                                                const Check &check) {
  std::vector<EncodeDescriptor> descs;
  for (size_t i = 0; i < layers.size() && outcome.ok(); ++i) {
    outcome = checkLayer(layers[i].encoded, i);
    if (!outcome.ok() || layers[i].encoded.elements == 0)
      continue;
    descs.push_back(encodeDescriptor(layers[i].encoded, Source::f32));
    outcome = check(layers[i], i, descs.back());
  }
  return descs;
}

template <typename Backend>
void addChecksumSteps(GroupOn<Backend> &group, const std::vector<EncodeDescriptor> &descs) {
  std::vector<SummedDescriptor> summed;
  for (const EncodeDescriptor &desc : descs)
    if (desc.codec.checksum)
      summed.push_back(
          {desc.payload,
           payloadDescriptor(desc.codec, desc.type, desc.payload,
                             cgx_payload_bytes(&desc.codec, desc.type, desc.elements), desc.elements),
           nullptr, /*isWritten=*/true});
  addChecksums(group, summed);
}

template <typename Backend>
std::unique_ptr<Group> makeEncodeGroupOn(std::span<const EncodeLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Backend>>();
  outcome = {};
  std::vector<EncodeDescriptor> descs =
      encodeDescriptors(layers, outcome, [](const EncodeLayer &layer, size_t number, EncodeDescriptor &desc) {
        desc.source = layer.isSum ? sumSourceOf(desc.type) : sourceOf(desc.type);
        desc.input = layer.input;
        const uint32_t neighbors =
            std::min(neighborsAt(layer.input, layer.isSum ? CGX_F32 : desc.type), neighborsAt(desc.residual));
        desc.tiles = hasFeedback(desc) ? tileCounts</*few=*/true>(desc, neighbors)
                                       : tileCounts<false>(desc, neighbors);
        desc.runs = hasFeedback(desc) || layer.isSum ? 0 : runCount(desc, layer.input);
        return checkAligned(layer.input, layer.isSum ? 4 : cgx_element_bytes(desc.type), "input", number);
      });
  if (!outcome.ok())
    return nullptr;
  giveSums(*group, descs, hasFeedback);
  const EncodeTable table = {group->upload(descs), nullptr, nullptr, nullptr};
  addTileSteps</*isSum=*/false>(*group, table, descs);
  addRunSteps</*isSum=*/false>(*group, table, descs);
  group->addStep(StoreSums<TensorInput>{table},
                 rangesOf(descs, range::elements, hasFeedback, elementsBehindTiles));
  descs = readingSums(std::move(descs));
  addGeneralSteps(*group, {group->upload(descs), nullptr, nullptr, nullptr}, descs,
                  makeSparseWorkspaces(*group, descs),
                  makeLosslessWorkspaces(*group, descs, /*encodes=*/true, /*decodes=*/false));
  addChecksumSteps(*group, descs);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_ENCODEGROUP_H
