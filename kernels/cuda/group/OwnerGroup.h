//===-- OwnerGroup.h - Groups that add payloads up and encode the sums ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the elements of a payload can be decoded each by itself, one step adds up those of all contributions:
// in registers if they are encoded right there, by octets and by families that ask for each element once.
// Payloads of which a decoder must see the whole are accumulated in memory, one after the other.
#ifndef CGX_KERNELS_CUDA_GROUP_OWNERGROUP_H
#define CGX_KERNELS_CUDA_GROUP_OWNERGROUP_H

#include "EncodeGroup.h"

namespace cgx::cuda {

inline bool isDecodedAsAWhole(const cgx_codec &codec) { return isSparse(codec) || hasExponentCode(codec); }

/// Whether sums go through memory.
inline bool needsSums(const EncodeItem &item) {
  return hasFeedback(item) || isDecodedAsAWhole(item.codec) || item.codec.bucket != 0;
}

/// Item i accumulates contribution `number` of owner i, if that has one and it is decoded as a whole.
inline std::vector<DecodeItem> accumulatingItems(const std::vector<EncodeItem> &owners, uint32_t number,
                                                 const std::vector<PayloadItem> &payloads,
                                                 const PayloadItem *onDevice) {
  std::vector<DecodeItem> items;
  for (const EncodeItem &owner : owners) {
    DecodeItem &item = items.emplace_back();
    item = {};
    if (!isDecodedAsAWhole(owner.codec) || number >= owner.contributionCount)
      continue;
    item.codec = owner.codec;
    item.type = owner.type;
    item.payload = owner.contributions + number;
    const PayloadItem &payload = payloads[size_t(item.payload - onDevice)];
    item.body = payload.payload + payload.bodyBegin;
    item.elements = owner.elements;
    item.output = owner.sums;
  }
  return items;
}

/// Adds contributions that are decoded as a whole to `sums`.
template <typename Engine>
void addContributionSteps(GroupOn<Engine> &group, const EncodeTable &table,
                          const std::vector<EncodeItem> &owners, const std::vector<PayloadItem> &payloads,
                          const SparseRoom *sparseRooms, const LosslessRoom *losslessRooms) {
  uint32_t most = 0;
  for (const EncodeItem &owner : owners)
    if (isDecodedAsAWhole(owner.codec))
      most = std::max(most, owner.contributionCount);
  for (uint32_t number = 0; number < most; ++number) {
    const std::vector<DecodeItem> items = accumulatingItems(owners, number, payloads, table.payloads);
    const DecodeTable decoded = {group.upload(items), table.payloads, table.errors};
    addSparseDecodeSteps<Sink::add>(group, {decoded, sparseRooms}, items);
    addLosslessDecodeSteps<Sink::add>(group, {decoded, losslessRooms}, items);
  }
}

/// Adds up, into `sums`, what is decoded as a whole.
template <typename Engine>
void addAccumulatingSteps(GroupOn<Engine> &group, const EncodeTable &table,
                          const std::vector<EncodeItem> &owners, const std::vector<PayloadItem> &payloads,
                          const SparseRoom *sparseRooms, const LosslessRoom *losslessRooms) {
  const auto slices = slicesOf(
      owners, slice::elements, [](const EncodeItem &item) { return isDecodedAsAWhole(item.codec); },
      elementsBehindOctets);
  if (slices.empty())
    return;
  group.addStep(ClearSums{table}, slices);
  addContributionSteps(group, table, owners, payloads, sparseRooms, losslessRooms);
  group.addStep(FinishSums{table}, slices);
}

/// The items of owners, and the payloads of their contributions one behind the other.
inline std::vector<EncodeItem> ownerItems(std::span<const OwnerLayer> layers,
                                          std::vector<PayloadItem> &payloads, Outcome &outcome) {
  return encodeItems(layers, outcome, [&](const OwnerLayer &layer, size_t number, EncodeItem &item) {
    if (item.type != CGX_F32 && item.type != CGX_F16 && item.type != CGX_BF16)
      return Outcome{"layer " + std::to_string(number) +
                     ": expected element type f32, f16 or bf16 to sum up"};
    item.source = sumSourceOf(item.type);
    item.divisor = float(layer.divisor);
    item.contributionCount = uint32_t(layer.contributions.size());
    item.octets = octetRange</*few=*/true>(item, arePairs(item.residual));
    const uint64_t bytes = cgx_payload_bytes(&item.codec, item.type, item.elements);
    for (const void *payload : layer.contributions) {
      if (Outcome wrong = checkAligned(payload, 8, "contribution", number); !wrong.ok())
        return wrong;
      payloads.push_back(payloadItem(item.codec, item.type, payload, bytes, item.elements));
    }
    return Outcome();
  });
}

template <typename Engine>
std::unique_ptr<Group> makeOwnerGroupOn(std::span<const OwnerLayer> layers, Outcome &outcome) {
  auto group = std::make_unique<GroupOn<Engine>>();
  std::vector<PayloadItem> payloads;
  outcome = {};
  std::vector<EncodeItem> items = ownerItems(layers, payloads, outcome);
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
  giveSums(*group, items, needsSums);
  const EncodeTable table = {group->upload(items), nullptr, contributions, errors};
  addOctetSteps</*isSum=*/true, /*withFeedback=*/false>(*group, table, items);
  addOctetSteps</*isSum=*/true, /*withFeedback=*/true>(*group, table, items);
  forEachFamily([&](auto family) {
    using Family = typename decltype(family)::type;
    const auto isOurs = [](const EncodeItem &item) { return isOf<Family>(item.codec); };
    group->addStep(StoreSums<SumInput<Family>>{table},
                   slicesOf(
                       items, slice::elements,
                       [&](const EncodeItem &item) { return isOurs(item) && item.sums; },
                       elementsBehindOctets));
    if constexpr (!Family::hasBuckets)
      addFamilySteps<SumInput<Family>, Family>(*group, table, items,
                                               [](const EncodeItem &item) { return !item.sums; });
  });
  const SparseRoom *sparseRooms = makeSparseRooms(*group, items);
  const std::vector<LosslessRoom> losslessRooms =
      makeLosslessRooms(*group, items, /*encodes=*/true, /*decodes=*/true);
  addAccumulatingSteps(*group, table, items, payloads, sparseRooms, group->upload(losslessRooms));
  items = readingSums(std::move(items));
  addGeneralSteps(*group, {group->upload(items), nullptr, contributions, errors}, items, sparseRooms,
                  losslessRooms);
  addChecksumSteps(*group, items);
  outcome = group->made;
  return outcome.ok() ? std::move(group) : nullptr;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_OWNERGROUP_H
