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

/// Returns the descriptor of a layer, and appends its contributions to `payloads`.
inline ReduceDescriptor reduceDescriptor(const ReduceLayer &layer, std::vector<PayloadDescriptor> &payloads) {
  ReduceDescriptor desc = {};
  desc.sum =
      encodeDescriptor({.codec = layer.codec, .type = layer.type, .elements = layer.elements}, Source::f32);
  desc.sum.divisor = float(layer.divisor);
  desc.sum.reciprocal = exactReciprocal(desc.sum.divisor);
  desc.sum.contributionCount = uint32_t(layer.contributions.size());
  desc.own = layer.own;
  desc.output = layer.output;
  desc.reduction = layer.reduction;
  const uint32_t neighbors =
      std::min(neighborsAt(layer.output, layer.type), neighborsAt(layer.own, layer.type));
  desc.sum.tiles = tileCounts</*few=*/true>(desc.sum, neighbors);
  const uint64_t bytes = cgx_payload_bytes(&layer.codec, layer.type, layer.elements);
  for (const void *payload : layer.contributions)
    payloads.push_back(payloadDescriptor(layer.codec, layer.type, payload, bytes, layer.elements));
  return desc;
}

template <typename Backend>
std::unique_ptr<Group> makeReduceGroupOn(std::span<const ReduceLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Backend>>();
  std::vector<PayloadDescriptor> payloads;
  std::vector<ReduceDescriptor> descs;
  outcome = {};
  for (size_t i = 0; i < layers.size() && outcome.ok(); ++i) {
    outcome = checkLayer(layers[i], i);
    if (outcome.ok() && layers[i].elements != 0)
      descs.push_back(reduceDescriptor(layers[i], payloads));
  }
  if (!outcome.ok())
    return nullptr;
  PayloadDescriptor *contributions = group->template allocate<PayloadDescriptor>(payloads.size());
  uint32_t *errors = group->allocateErrors(payloads.size());
  std::vector<bool> hasChecksum;
  std::vector<EncodeDescriptor> sums;
  uint64_t first = 0;
  for (ReduceDescriptor &desc : descs) {
    desc.sum.contributions = contributions + first;
    first += desc.sum.contributionCount;
    hasChecksum.insert(hasChecksum.end(), desc.sum.contributionCount, desc.sum.codec.checksum != 0);
    if (isDecodedAsAWhole(desc.sum.codec))
      desc.sum.sums = group->template allocate<float>(desc.sum.elements);
    sums.push_back(desc.sum);
  }
  addVerification(*group, payloads, hasChecksum);
  group->fill(contributions, payloads);
  const ReduceTable table = {group->upload(descs), contributions, errors};
  forEachTypeChoice</*few=*/true>([&](auto shape, auto choice) {
    using Shape = decltype(shape);
    group->addStep(ReduceTiles<Shape::bits, Shape::bucketRows, decltype(choice)>{table},
                   rangesOf(
                       descs, range::tiles * tileLanes(Shape::bits),
                       [&](const ReduceDescriptor &desc) {
                         return shape.isOf(desc.sum) && isChosen(choice, desc.sum.type);
                       },
                       [](const ReduceDescriptor &desc) {
                         return Range{0, uint64_t(desc.sum.tiles.count) * tileLanes(Shape::bits)};
                       }));
  });
  const auto behindTiles = [](const ReduceDescriptor &desc) { return elementsBehindTiles(desc.sum); };
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    group->addStep(StoreReduced<Family>{table},
                   rangesOf(
                       descs, range::elements,
                       [](const ReduceDescriptor &desc) { return isOf<Family>(desc.sum.codec); },
                       behindTiles));
  });
  const auto summed = rangesOf(
      descs, range::elements, [](const ReduceDescriptor &desc) { return isDecodedAsAWhole(desc.sum.codec); },
      behindTiles);
  group->addStep(BeginSums{table}, summed);
  addContributionSteps(
      *group, {nullptr, nullptr, contributions, errors}, sums, payloads, makeSparseWorkspaces(*group, sums),
      group->upload(makeLosslessWorkspaces(*group, sums, /*encodes=*/false, /*decodes=*/true)));
  group->addStep(StoreSummed{table}, summed);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_REDUCEGROUP_H
