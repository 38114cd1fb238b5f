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

namespace cgx::cuda {

constexpr uint64_t elementsOfSlice = 8192;

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
    items.push_back(decodeItem(layers[i]));
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
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    group->addStep(DecodeValues<Family, sink>{table},
                   slicesOf(
                       items, elementsOfSlice,
                       [](const DecodeItem &item) { return isOf<Family>(item.codec); },
                       [](const DecodeItem &item) { return item.elements; }));
  });
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_DECODEGROUP_H
