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
#include "SparseSteps.h"
#include "TileChoices.h"
#include "TileDecode.h"

namespace cgx::cuda {

template <Sink sink, typename Backend>
std::unique_ptr<Group> makeDecodeGroupOn(std::span<const DecodeLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Backend>>();
  std::vector<DecodeDescriptor> descs;
  std::vector<PayloadDescriptor> payloads;
  std::vector<bool> hasChecksum;
  outcome = {};
  for (size_t i = 0; i < layers.size() && outcome.ok(); ++i) {
    outcome = checkLayer(layers[i], i, /*accumulates=*/sink == Sink::add);
    if (!outcome.ok() || layers[i].elements == 0)
      continue;
    DecodeDescriptor &desc = descs.emplace_back(decodeDescriptor(layers[i]));
    desc.runs = runCount(desc, desc.output);
    desc.tiles = tileCounts<false>(desc, neighborsAt(desc.output, sink == Sink::add ? CGX_F32 : desc.type));
    payloads.push_back(payloadDescriptor(layers[i].codec, layers[i].type, layers[i].payload,
                                         layers[i].payloadBytes, layers[i].elements));
    hasChecksum.push_back(layers[i].codec.checksum != 0);
  }
  if (!outcome.ok())
    return nullptr;
  PayloadDescriptor *received = group->template allocate<PayloadDescriptor>(payloads.size());
  for (size_t i = 0; i < descs.size(); ++i)
    descs[i].payload = received + i;
  addVerification(*group, payloads, hasChecksum);
  group->fill(received, payloads);
  const DecodeTable table = {group->upload(descs), received, group->allocateErrors(payloads.size())};
  const auto addTiles = [&](auto shape, auto choice) {
    using Shape = decltype(shape);
    group->addStep(DecodeTiles<Shape::bits, Shape::bucketRows, sink, decltype(choice)>{table},
                   rangesOf(
                       descs, range::tiles * tileLanes(Shape::bits),
                       [&](const DecodeDescriptor &desc) {
                         return shape.isOf(desc) && isChosen(choice, sink == Sink::add ? CGX_F32 : desc.type);
                       },
                       [](const DecodeDescriptor &desc) {
                         return Range{0, uint64_t(desc.tiles.count) * tileLanes(Shape::bits)};
                       }));
  };
  if constexpr (sink == Sink::add)
    forEachTileShape</*few=*/false>([&](auto shape) { addTiles(shape, TypeChoice<true, CGX_F32>()); });
  else
    forEachTypeChoice</*few=*/false>(addTiles);
  forEachRunType([&](auto type, auto isBfloat) {
    if constexpr (sink == Sink::store || decltype(type)::value == CGX_F32)
      group->addStep(DecodeRuns<decltype(type)::value, decltype(isBfloat)::value, sink>{table},
                     rangesOf(
                         descs, range::runs,
                         [&](const DecodeDescriptor &desc) {
                           return (sink == Sink::add || desc.type == type) &&
                                  (desc.codec.format == CGX_FORMAT_BF16) == isBfloat;
                         },
                         [](const DecodeDescriptor &desc) { return Range{0, desc.runs}; }));
  });
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    group->addStep(
        DecodeValues<Family, sink>{table},
        rangesOf(
            descs, range::elements, [](const DecodeDescriptor &desc) { return isOf<Family>(desc.codec); },
            [](const DecodeDescriptor &desc) { return Range{elementsOfTiles(desc), desc.elements}; }));
  });
  addSparseDecodeSteps<sink>(*group, {table, makeSparseWorkspaces(*group, descs)}, descs);
  addLosslessDecodeSteps<sink>(
      *group,
      {table, group->upload(makeLosslessWorkspaces(*group, descs, /*encodes=*/false, /*decodes=*/true))},
      descs);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_DECODEGROUP_H
