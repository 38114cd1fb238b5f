//===-- Checksums.h - Steps that write or verify checksums ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_CHECKSUMS_H
#define CGX_KERNELS_CUDA_GROUP_CHECKSUMS_H

#include "Checksum.h"
#include "GroupOn.h"
#include "SliceSizes.h"

namespace cgx::cuda {

/// Sums up payloads, each into a place of its own, and gives these.
template <typename Engine> uint64_t *addChecksums(GroupOn<Engine> &group, std::vector<SummedItem> &items) {
  uint64_t *sums = group.template allocate<uint64_t>(items.size());
  for (size_t i = 0; i < items.size(); ++i)
    items[i].sum = sums + i;
  const SummedItem *table = group.upload(items);
  const auto all = [](const SummedItem &) { return true; };
  const auto one = [](const SummedItem &) { return Range{0, 1}; };
  group.addStep(ClearChecksums{table}, slicesOf(items, 1, all, one));
  group.addStep(SumWords{table}, slicesOf(items, slice::words, all, [](const SummedItem &item) {
                  return Range{0, (item.given.bytes + 7) / 8};
                }));
  group.addStep(FinishChecksums{table}, slicesOf(items, 1, all, one));
  return sums;
}

/// Sums up those payloads that have a checksum, and tells them where.
template <typename Engine>
void addVerification(GroupOn<Engine> &group, std::vector<PayloadItem> &payloads,
                     const std::vector<bool> &hasChecksum) {
  std::vector<SummedItem> items;
  for (size_t i = 0; i < payloads.size(); ++i)
    if (hasChecksum[i])
      items.push_back(
          {const_cast<uint8_t *>(payloads[i].payload), payloads[i], nullptr, /*isWritten=*/false});
  uint64_t *sums = addChecksums(group, items);
  for (size_t i = 0; i < payloads.size(); ++i)
    if (hasChecksum[i])
      payloads[i].sum = sums++;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_CHECKSUMS_H
