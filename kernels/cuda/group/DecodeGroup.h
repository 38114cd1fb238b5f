//===-- DecodeGroup.h - Groups that decode, and that accumulate ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_DECODEGROUP_H
#define CGX_KERNELS_CUDA_GROUP_DECODEGROUP_H

#include "Checksums.h"
#include "Decode.h"
#include "FamilyList.h"
#include "GroupOn.h"
#include "Layers.h"
#include "LosslessSteps.h"
#include "OctetDecode.h"
#include "OctetShapes.h"
#include "SparseSteps.h"

namespace cgx::cuda {

template <Sink sink, typename Engine>
std::unique_ptr<Group> makeDecodeGroupOn(std::span<const DecodeLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Engine>>();
  std::vector<DecodeItem> items;
  std::vector<PayloadItem> payloads;
  std::vector<bool> hasChecksum;
  outcome = {};
  for (size_t i = 0; i < layers.size() && outcome.ok(); ++i) {
    outcome = checkLayer(layers[i], i, /*accumulates=*/sink == Sink::add);
    if (!outcome.ok() || layers[i].elements == 0)
      continue;
    DecodeItem &item = items.emplace_back(decodeItem(layers[i]));
    item.octets = octetRange<false>(item, arePairs(item.output, sink == Sink::add ? CGX_F32 : item.type));
    payloads.push_back(payloadItem(layers[i].codec, layers[i].type, layers[i].payload, layers[i].payloadBytes,
                                   layers[i].elements));
    hasChecksum.push_back(layers[i].codec.checksum != 0);
  }
  if (!outcome.ok())
    return nullptr;
  PayloadItem *received = group->template allocate<PayloadItem>(payloads.size());
  for (size_t i = 0; i < items.size(); ++i)
    items[i].payload = received + i;
  addVerification(*group, payloads, hasChecksum);
  group->fill(received, payloads);
  const DecodeTable table = {group->upload(items), received, group->allocateErrors(payloads.size())};
  forEachOctetShape</*few=*/false>([&](auto shape) {
    group->addStep(
        DecodeOctets<shape.bits, shape.bucketRows, sink>{table},
        slicesOf(
            items, slice::octetLanes, [&](const DecodeItem &item) { return shape.isOf(item); },
            [](const DecodeItem &item) { return Range{0, uint64_t(item.octets.count) * octetLanes}; }));
  });
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    group->addStep(DecodeValues<Family, sink>{table},
                   slicesOf(
                       items, slice::elements,
                       [](const DecodeItem &item) { return isOf<Family>(item.codec); },
                       [](const DecodeItem &item) { return Range{elementsOfOctets(item), item.elements}; }));
  });
  addSparseDecodeSteps<sink>(*group, {table, makeSparseRooms(*group, items)}, items);
  addLosslessDecodeSteps<sink>(
      *group, {table, group->upload(makeLosslessRooms(*group, items, /*encodes=*/false, /*decodes=*/true))},
      items);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_DECODEGROUP_H
