//===-- ReduceGroup.h - Groups that add payloads up to elements ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_REDUCEGROUP_H
#define CGX_KERNELS_CUDA_GROUP_REDUCEGROUP_H

#include "OwnerGroup.h"
#include "Reduce.h"

namespace cgx::cuda {

/// The item of a layer, whose contributions are appended to `payloads`.
inline ReduceItem reduceItem(const ReduceLayer &layer, std::vector<PayloadItem> &payloads) {
  ReduceItem item = {};
  item.sum = encodeItem({.codec = layer.codec, .type = layer.type, .elements = layer.elements}, Source::f32);
  item.sum.divisor = float(layer.divisor);
  item.sum.contributionCount = uint32_t(layer.contributions.size());
  item.own = layer.own;
  item.output = layer.output;
  item.reduction = layer.reduction;
  const bool pairs = arePairs(layer.output, layer.type) && arePairs(layer.own, layer.type);
  item.sum.octets = octetRange</*few=*/true>(item.sum, pairs);
  const uint64_t bytes = cgx_payload_bytes(&layer.codec, layer.type, layer.elements);
  for (const void *payload : layer.contributions)
    payloads.push_back(payloadItem(layer.codec, layer.type, payload, bytes, layer.elements));
  return item;
}

template <typename Engine>
std::unique_ptr<Group> makeReduceGroupOn(std::span<const ReduceLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Engine>>();
  std::vector<PayloadItem> payloads;
  std::vector<ReduceItem> items;
  outcome = {};
  for (size_t i = 0; i < layers.size() && outcome.ok(); ++i) {
    outcome = checkLayer(layers[i], i);
    if (outcome.ok() && layers[i].elements != 0)
      items.push_back(reduceItem(layers[i], payloads));
  }
  if (!outcome.ok())
    return nullptr;
  PayloadItem *contributions = group->template allocate<PayloadItem>(payloads.size());
  uint32_t *errors = group->allocateErrors(payloads.size());
  std::vector<bool> hasChecksum;
  std::vector<EncodeItem> sums;
  uint64_t first = 0;
  for (ReduceItem &item : items) {
    item.sum.contributions = contributions + first;
    first += item.sum.contributionCount;
    hasChecksum.insert(hasChecksum.end(), item.sum.contributionCount, item.sum.codec.checksum != 0);
    if (isDecodedAsAWhole(item.sum.codec))
      item.sum.sums = group->template allocate<float>(item.sum.elements);
    sums.push_back(item.sum);
  }
  addVerification(*group, payloads, hasChecksum);
  group->fill(contributions, payloads);
  const ReduceTable table = {group->upload(items), contributions, errors};
  forEachOctetShape</*few=*/true>([&](auto shape) {
    group->addStep(
        ReduceOctets<shape.bits, shape.bucketRows>{table},
        slicesOf(
            items, slice::octetLanes, [&](const ReduceItem &item) { return shape.isOf(item.sum); },
            [](const ReduceItem &item) { return Range{0, uint64_t(item.sum.octets.count) * octetLanes}; }));
  });
  const auto behindOctets = [](const ReduceItem &item) { return elementsBehindOctets(item.sum); };
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    group->addStep(StoreReduced<Family>{table},
                   slicesOf(
                       items, slice::elements,
                       [](const ReduceItem &item) { return isOf<Family>(item.sum.codec); }, behindOctets));
  });
  const auto summed = slicesOf(
      items, slice::elements, [](const ReduceItem &item) { return isDecodedAsAWhole(item.sum.codec); },
      behindOctets);
  group->addStep(BeginSums{table}, summed);
  addContributionSteps(*group, {nullptr, nullptr, contributions, errors}, sums, payloads,
                       makeSparseRooms(*group, sums),
                       group->upload(makeLosslessRooms(*group, sums, /*encodes=*/false, /*decodes=*/true)));
  group->addStep(StoreSummed{table}, summed);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_REDUCEGROUP_H
