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
#include "OctetEncode.h"
#include "OctetShapes.h"
#include "SparseSteps.h"
#include "Sums.h"
#include "cgx/kernels/codecs.h"

namespace cgx::cuda {

inline bool hasFeedback(const EncodeItem &item) { return item.residual.values != nullptr; }

/// What of an item does not go through octets.
inline Range elementsBehindOctets(const EncodeItem &item) { return {elementsOfOctets(item), item.elements}; }

/// The one step of what goes through octets.
template <bool isSum, bool withFeedback, typename Engine>
void addOctetSteps(GroupOn<Engine> &group, const EncodeTable &table, const std::vector<EncodeItem> &items) {
  forEachOctetShape<isSum || withFeedback>([&](auto shape) {
    group.addStep(
        EncodeOctets<shape.bits, shape.bucketRows, isSum, withFeedback>{table},
        slicesOf(
            items, slice::octetFours,
            [&](const EncodeItem &item) { return shape.isOf(item) && hasFeedback(item) == withFeedback; },
            [](const EncodeItem &item) { return Range{0, (item.octets.count + 3) / 4}; }));
  });
}

/// The steps of the items of one dense family that `isWanted`, but for what goes through octets.
template <typename Input, typename Family, typename Engine, typename IsWanted>
void addFamilySteps(GroupOn<Engine> &group, const EncodeTable &table, const std::vector<EncodeItem> &items,
                    const IsWanted &isWanted) {
  const auto isOurs = [&](const EncodeItem &item) { return isOf<Family>(item.codec) && isWanted(item); };
  if constexpr (Family::hasBuckets)
    group.addStep(StoreScales<Family, Input>{table},
                  slicesOf(items, slice::buckets, isOurs, [](const EncodeItem &item) {
                    return Range{elementsOfOctets(item) / item.codec.bucket,
                                 cgx_bucket_count(&item.codec, item.elements)};
                  }));
  if constexpr (std::is_same_v<Family, Quantize>)
    group.addStep(
        LearnTable<Input>{table},
        slicesOf(
            items, 1,
            [&](const EncodeItem &item) { return isOurs(item) && item.codec.levels == CGX_LEVELS_LEARNED; },
            [](const EncodeItem &) { return Range{0, 1}; }));
  group.addStep(StoreCodes<Family, Input>{table},
                slicesOf(items, slice::codes, isOurs, [](const EncodeItem &item) {
                  return Range{elementsOfOctets(item) * item.codec.bits / 16, Family::codeCount(item)};
                }));
}

/// Gives items memory for what of them is computed before it is encoded, if they need it.
template <typename Engine, typename NeedsSums>
void giveSums(GroupOn<Engine> &group, std::vector<EncodeItem> &items, const NeedsSums &needsSums) {
  for (EncodeItem &item : items) {
    const Range range = elementsBehindOctets(item);
    if (!needsSums(item) || range.begin == range.end)
      continue;
    // Indices are those of all elements; nobody asks for the sums of octets.
    item.sums = group.template allocate<float>(range.end - range.begin);
    if (item.sums)
      item.sums -= range.begin;
  }
}

/// The items as they are encoded once their sums are computed.
inline std::vector<EncodeItem> readingSums(std::vector<EncodeItem> items) {
  for (EncodeItem &item : items)
    if (item.sums) {
      item.readsSums = true;
      item.input = item.sums;
      item.source = sumSourceOf(item.type);
    }
  return items;
}

/// The steps that put what was lost into residuals, for items that read sums. `Sent` says what was sent.
template <typename Sent, typename Engine, typename IsWanted>
void addLossStep(GroupOn<Engine> &group, const EncodeTable &table, const std::vector<EncodeItem> &items,
                 const IsWanted &isWanted) {
  group.addStep(StoreLosses<Sent>{table},
                slicesOf(
                    items, slice::residualBlocks,
                    [&](const EncodeItem &item) { return hasFeedback(item) && isWanted(item.codec); },
                    [](const EncodeItem &item) {
                      return Range{elementsOfOctets(item) / residualBlock,
                                   (item.elements + residualBlock - 1) / residualBlock};
                    }));
}

/// The steps of what lies in memory, tensors or sums, and of what is lost of it.
template <typename Engine>
void addGeneralSteps(GroupOn<Engine> &group, const EncodeTable &table, const std::vector<EncodeItem> &items,
                     const SparseRoom *sparseRooms, const std::vector<LosslessRoom> &losslessRooms) {
  const auto isInMemory = [](const EncodeItem &item) { return item.input != nullptr; };
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    addFamilySteps<TensorInput, Family>(group, table, items, isInMemory);
    if constexpr (!std::is_same_v<Family, Identity>)
      addLossStep<SentBy<Family>>(group, table, items, isOf<Family>);
  });
  addSparseEncodeSteps(group, {table, sparseRooms}, items);
  const LosslessRoom *rooms = group.upload(losslessRooms);
  addRoundingStep(group, {table, rooms}, items);
  const std::vector<EncodeItem> rounded = readingRounded(items, losslessRooms);
  const EncodeTable roundedTable = {group.upload(rounded), nullptr, table.payloads, table.errors};
  addLosslessEncodeSteps(group, {roundedTable, rooms}, rounded);
  group.addStep(TakeSent{{table, sparseRooms}},
                slicesOf(
                    items, slice::elements,
                    [](const EncodeItem &item) { return isSparse(item.codec) && hasFeedback(item); },
                    [](const EncodeItem &item) { return Range{0, mostSent(item.codec, item.elements)}; }));
  addLossStep<SentRest>(group, table, items, isSparse);
  addLossStep<SentWhole>(group, table, items, isLossless);
  addLossStep<SentRounded>(group, roundedTable, rounded, isGcomp);
}

/// The items of layers that are not empty, checked.
template <typename Layer, typename Check>
std::vector<EncodeItem> encodeItems(std::span<const Layer> layers, Outcome &outcome, const Check &check) {
  std::vector<EncodeItem> items;
  for (size_t i = 0; i < layers.size() && outcome.ok(); ++i) {
    outcome = checkLayer(layers[i].encoded, i);
    if (!outcome.ok() || layers[i].encoded.elements == 0)
      continue;
    items.push_back(encodeItem(layers[i].encoded, Source::f32));
    outcome = check(layers[i], i, items.back());
  }
  return items;
}

template <typename Engine>
void addChecksumSteps(GroupOn<Engine> &group, const std::vector<EncodeItem> &items) {
  std::vector<SummedItem> summed;
  for (const EncodeItem &item : items)
    if (item.codec.checksum)
      summed.push_back({item.payload,
                        payloadItem(item.codec, item.type, item.payload,
                                    cgx_payload_bytes(&item.codec, item.type, item.elements), item.elements),
                        nullptr, /*isWritten=*/true});
  addChecksums(group, summed);
}

template <typename Engine>
std::unique_ptr<Group> makeEncodeGroupOn(std::span<const EncodeLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Engine>>();
  outcome = {};
  std::vector<EncodeItem> items =
      encodeItems(layers, outcome, [](const EncodeLayer &layer, size_t number, EncodeItem &item) {
        item.source = layer.isSum ? sumSourceOf(item.type) : sourceOf(item.type);
        item.input = layer.input;
        const bool pairs =
            arePairs(layer.input, layer.isSum ? CGX_F32 : item.type) && arePairs(item.residual);
        item.octets =
            hasFeedback(item) ? octetRange</*few=*/true>(item, pairs) : octetRange<false>(item, pairs);
        return checkAligned(layer.input, layer.isSum ? 4 : cgx_element_bytes(item.type), "input", number);
      });
  if (!outcome.ok())
    return nullptr;
  giveSums(*group, items, hasFeedback);
  const EncodeTable table = {group->upload(items), nullptr, nullptr, nullptr};
  addOctetSteps</*isSum=*/false, /*withFeedback=*/false>(*group, table, items);
  addOctetSteps</*isSum=*/false, /*withFeedback=*/true>(*group, table, items);
  group->addStep(StoreSums<TensorInput>{table},
                 slicesOf(items, slice::elements, hasFeedback, elementsBehindOctets));
  items = readingSums(std::move(items));
  addGeneralSteps(*group, {group->upload(items), nullptr, nullptr, nullptr}, items,
                  makeSparseRooms(*group, items),
                  makeLosslessRooms(*group, items, /*encodes=*/true, /*decodes=*/false));
  addChecksumSteps(*group, items);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_ENCODEGROUP_H
