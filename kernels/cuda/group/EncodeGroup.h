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
#include "Encode.h"
#include "FamilyList.h"
#include "GroupOn.h"
#include "Layers.h"
#include "OctetEncode.h"
#include "OctetShapes.h"
#include "SparseSteps.h"
#include "cgx/kernels/codecs.h"

namespace cgx::cuda {

/// Indices of a slice: enough for a block to be worth its start, few enough to fill a GPU.
constexpr uint64_t codesOfSlice = 4096;
constexpr uint64_t bucketsOfSlice = 64;
constexpr uint64_t octetFoursOfSlice = 32;

/// The steps of the items of one family, but for what goes through octets.
template <typename Input, typename Family, typename Engine>
void addEncodeSteps(GroupOn<Engine> &group, const EncodeTable &table, const std::vector<EncodeItem> &items) {
  const auto isOurs = [](const EncodeItem &item) { return isOf<Family>(item.codec); };
  if constexpr (Family::hasBuckets)
    group.addStep(StoreScales<Family, Input>{table},
                  slicesOf(items, bucketsOfSlice, isOurs, [](const EncodeItem &item) {
                    return Range{elementsOfOctets(item) / item.codec.bucket,
                                 cgx_bucket_count(&item.codec, item.elements)};
                  }));
  if constexpr (std::is_same_v<Family, Quantize>)
    group.addStep(LearnTable<Input>{table}, slicesOf(
                                                items, 1,
                                                [](const EncodeItem &item) {
                                                  return isOf<Quantize>(item.codec) &&
                                                         item.codec.levels == CGX_LEVELS_LEARNED;
                                                },
                                                [](const EncodeItem &) { return Range{0, 1}; }));
  group.addStep(StoreCodes<Family, Input>{table},
                slicesOf(items, codesOfSlice, isOurs, [](const EncodeItem &item) {
                  return Range{elementsOfOctets(item) * item.codec.bits / 16, Family::codeCount(item)};
                }));
}

/// The one step of what goes through octets.
template <bool isSum, typename Engine>
void addOctetSteps(GroupOn<Engine> &group, const EncodeTable &table, const std::vector<EncodeItem> &items) {
  forEachOctetShape<isSum>([&](auto shape) {
    group.addStep(EncodeOctets<shape.bits, shape.bucketRows, isSum>{table},
                  slicesOf(
                      items, octetFoursOfSlice, [&](const EncodeItem &item) { return shape.isOf(item); },
                      [](const EncodeItem &item) { return Range{0, (item.octets.count + 3) / 4}; }));
  });
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
  addSums(group, summed);
}

template <typename Engine>
std::unique_ptr<Group> makeEncodeGroupOn(std::span<const EncodeLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Engine>>();
  outcome = {};
  const std::vector<EncodeItem> items =
      encodeItems(layers, outcome, [](const EncodeLayer &layer, size_t number, EncodeItem &item) {
        item.source = sourceOf(item.type, layer.isSum);
        item.input = layer.input;
        item.octets = octetRange<false>(item, arePairs(layer.input, layer.isSum ? CGX_F32 : item.type));
        return checkAligned(layer.input, layer.isSum ? 4 : cgx_element_bytes(item.type), "input", number);
      });
  if (!outcome.ok())
    return nullptr;
  const EncodeTable table = {group->upload(items), nullptr, nullptr, nullptr};
  addOctetSteps</*isSum=*/false>(*group, table, items);
  forEachFamily([&](auto family) {
    addEncodeSteps<TensorInput, typename decltype(family)::type>(*group, table, items);
  });
  addSparseEncodeSteps(*group, table, items);
  addChecksumSteps(*group, items);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

template <typename Engine>
std::unique_ptr<Group> makeOwnerGroupOn(std::span<const OwnerLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Engine>>();
  std::vector<PayloadItem> payloads;
  outcome = {};
  std::vector<EncodeItem> items =
      encodeItems(layers, outcome, [&](const OwnerLayer &layer, size_t number, EncodeItem &item) {
        if (!canSum(item.codec))
          return Outcome{"layer " + std::to_string(number) +
                         ": expected a codec whose payloads can be summed on a GPU"};
        if (item.type != CGX_F32 && item.type != CGX_F16 && item.type != CGX_BF16)
          return Outcome{"layer " + std::to_string(number) +
                         ": expected element type f32, f16 or bf16 to sum up"};
        item.source = sourceOf(item.type, /*isSum=*/true);
        item.divisor = float(layer.divisor);
        item.contributionCount = uint32_t(layer.contributions.size());
        item.octets = octetRange<true>(item, /*arePairs=*/true);
        const uint64_t bytes = cgx_payload_bytes(&item.codec, item.type, item.elements);
        for (const void *payload : layer.contributions) {
          if (Outcome wrong = checkAligned(payload, 8, "contribution", number); !wrong.ok())
            return wrong;
          payloads.push_back(payloadItem(item.codec, item.type, payload, bytes, item.elements));
        }
        return Outcome();
      });
  if (!outcome.ok())
    return nullptr;
  PayloadItem *contributions = group->template allocate<PayloadItem>(payloads.size());
  uint32_t *errors = group->allocateErrors(payloads.size());
  std::vector<bool> hasChecksum;
  uint64_t first = 0;
  for (EncodeItem &item : items) {
    item.contributions = contributions + first;
    first += item.contributionCount;
    hasChecksum.insert(hasChecksum.end(), item.contributionCount, item.codec.checksum != 0);
  }
  addVerification(*group, payloads, hasChecksum);
  group->fill(contributions, payloads);
  const EncodeTable table = {group->upload(items), nullptr, contributions, errors};
  addOctetSteps</*isSum=*/true>(*group, table, items);
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    addEncodeSteps<SumInput<Family>, Family>(*group, table, items);
  });
  addChecksumSteps(*group, items);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_ENCODEGROUP_H
