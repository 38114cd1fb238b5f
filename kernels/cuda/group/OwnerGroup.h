//===-- OwnerGroup.h - Groups that add payloads up and encode the sums ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the elements of a payload can be decoded one by one, one step adds up all contributions. It keeps the
// sums in registers if they are encoded at once, by tiles and by families that read each element once.
// Payloads that must be decoded as a whole are accumulated in memory, one after the other.
#ifndef CGX_KERNELS_CUDA_GROUP_OWNERGROUP_H
#define CGX_KERNELS_CUDA_GROUP_OWNERGROUP_H

#include "EncodeGroup.h"

namespace cgx::cuda {

inline bool isDecodedAsAWhole(const cgx_codec &codec) { return isSparse(codec) || hasExponentCode(codec); }

/// Returns whether sums go through memory.
inline bool needsSums(const EncodeDescriptor &desc) {
  return hasFeedback(desc) || isDecodedAsAWhole(desc.codec) || desc.codec.bucket != 0;
}

/// Returns descriptors that accumulate contribution `number` of each owner i, if it has one and it is decoded
/// as a whole; else descriptor i is empty.
inline std::vector<DecodeDescriptor> accumulatingDescriptors(const std::vector<EncodeDescriptor> &owners,
                                                             uint32_t number,
                                                             const std::vector<PayloadDescriptor> &payloads,
                                                             const PayloadDescriptor *onDevice) {
  std::vector<DecodeDescriptor> descs;
  for (const EncodeDescriptor &owner : owners) {
    DecodeDescriptor &desc = descs.emplace_back();
    desc = {};
    if (!isDecodedAsAWhole(owner.codec) || number >= owner.contributionCount)
      continue;
    desc.codec = owner.codec;
    desc.type = owner.type;
    desc.payload = owner.contributions + number;
    const PayloadDescriptor &payload = payloads[size_t(desc.payload - onDevice)];
    desc.body = payload.payload + payload.bodyBegin;
    desc.elements = owner.elements;
    desc.output = owner.sums;
  }
  return descs;
}

/// Adds the steps that add contributions that are decoded as a whole to `sums`.
template <typename Backend>
void addContributionSteps(GroupOn<Backend> &group, const EncodeTable &table,
                          const std::vector<EncodeDescriptor> &owners,
                          const std::vector<PayloadDescriptor> &payloads,
                          const SparseWorkspace *sparseWorkspaces,
                          const LosslessWorkspace *losslessWorkspaces) {
  uint32_t most = 0;
  for (const EncodeDescriptor &owner : owners)
    if (isDecodedAsAWhole(owner.codec))
      most = std::max(most, owner.contributionCount);
  for (uint32_t number = 0; number < most; ++number) {
    const std::vector<DecodeDescriptor> descs =
        accumulatingDescriptors(owners, number, payloads, table.payloads);
    const DecodeTable decoded = {group.upload(descs), table.payloads, table.errors};
    addSparseDecodeSteps<Sink::add>(group, {decoded, sparseWorkspaces}, descs);
    addLosslessDecodeSteps<Sink::add>(group, {decoded, losslessWorkspaces}, descs);
  }
}

/// Adds all steps of sums whose contributions are decoded as a whole.
template <typename Backend>
void addAccumulatingSteps(GroupOn<Backend> &group, const EncodeTable &table,
                          const std::vector<EncodeDescriptor> &owners,
                          const std::vector<PayloadDescriptor> &payloads,
                          const SparseWorkspace *sparseWorkspaces,
                          const LosslessWorkspace *losslessWorkspaces) {
  const auto ranges = rangesOf(
      owners, range::elements, [](const EncodeDescriptor &desc) { return isDecodedAsAWhole(desc.codec); },
      elementsBehindTiles);
  if (ranges.empty())
    return;
  group.addStep(ClearSums{table}, ranges);
  addContributionSteps(group, table, owners, payloads, sparseWorkspaces, losslessWorkspaces);
  group.addStep(FinishSums{table}, ranges);
}

/// Returns the descriptors of owners, and appends the payloads of their contributions to `payloads`.
inline std::vector<EncodeDescriptor> ownerDescriptors(std::span<const OwnerLayer> layers,
                                                      std::vector<PayloadDescriptor> &payloads,
                                                      Outcome &outcome) {
  return encodeDescriptors(
      layers, outcome, [&](const OwnerLayer &layer, size_t number, EncodeDescriptor &desc) {
        if (desc.type != CGX_F32 && desc.type != CGX_F16 && desc.type != CGX_BF16)
          return Outcome{"layer " + std::to_string(number) +
                         ": expected element type f32, f16 or bf16 to sum up"};
        desc.source = sumSourceOf(desc.type);
        desc.divisor = float(layer.divisor);
        desc.reciprocal = exactReciprocal(desc.divisor);
        desc.contributionCount = uint32_t(layer.contributions.size());
        desc.tiles = tileCounts</*few=*/true>(desc, neighborsAt(desc.residual));
        desc.runs = hasFeedback(desc) ? 0 : runCount(desc, nullptr);
        const uint64_t bytes = cgx_payload_bytes(&desc.codec, desc.type, desc.elements);
        for (const void *payload : layer.contributions) {
          if (Outcome wrong = checkAligned(payload, 8, "contribution", number); !wrong.ok())
            return wrong;
          payloads.push_back(payloadDescriptor(desc.codec, desc.type, payload, bytes, desc.elements));
        }
        return Outcome();
      });
}

template <typename Backend>
std::unique_ptr<Group> makeOwnerGroupOn(std::span<const OwnerLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Backend>>();
  std::vector<PayloadDescriptor> payloads;
  outcome = {};
  std::vector<EncodeDescriptor> descs = ownerDescriptors(layers, payloads, outcome);
  if (!outcome.ok())
    return nullptr;
  PayloadDescriptor *contributions = group->template allocate<PayloadDescriptor>(payloads.size());
  uint32_t *errors = group->allocateErrors(payloads.size());
  std::vector<bool> hasChecksum;
  uint64_t first = 0;
  for (EncodeDescriptor &desc : descs) {
    desc.contributions = contributions + first;
    first += desc.contributionCount;
    hasChecksum.insert(hasChecksum.end(), desc.contributionCount, desc.codec.checksum != 0);
  }
  addVerification(*group, payloads, hasChecksum);
  group->fill(contributions, payloads);
  giveSums(*group, descs, needsSums);
  const EncodeTable table = {group->upload(descs), nullptr, contributions, errors};
  addTileSteps</*isSum=*/true>(*group, table, descs);
  addRunSteps</*isSum=*/true>(*group, table, descs);
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    const auto isOurs = [](const EncodeDescriptor &desc) { return isOf<Family>(desc.codec); };
    group->addStep(StoreSums<SumInput<Family>>{table},
                   rangesOf(
                       descs, range::elements,
                       [&](const EncodeDescriptor &desc) { return isOurs(desc) && desc.sums; },
                       elementsBehindTiles));
    if constexpr (!Family::hasBuckets)
      addFamilySteps<SumInput<Family>, Family>(*group, table, descs,
                                               [](const EncodeDescriptor &desc) { return !desc.sums; });
  });
  const SparseWorkspace *sparseWorkspaces = makeSparseWorkspaces(*group, descs);
  const std::vector<LosslessWorkspace> losslessWorkspaces =
      makeLosslessWorkspaces(*group, descs, /*encodes=*/true, /*decodes=*/true);
  addAccumulatingSteps(*group, table, descs, payloads, sparseWorkspaces, group->upload(losslessWorkspaces));
  descs = readingSums(std::move(descs));
  addGeneralSteps(*group, {group->upload(descs), nullptr, contributions, errors}, descs, sparseWorkspaces,
                  losslessWorkspaces);
  addChecksumSteps(*group, descs);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_OWNERGROUP_H
