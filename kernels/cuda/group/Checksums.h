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
#include "RangeSizes.h"

namespace cgx::cuda {

/// Adds the steps that compute checksums of payloads, and returns where each sum will be.
template <typename Backend>
uint64_t *addChecksums(GroupOn<Backend> &group, std::vector<SummedDescriptor> &descs) {
  uint64_t *sums = group.template allocate<uint64_t>(descs.size());
  for (size_t i = 0; i < descs.size(); ++i)
    descs[i].sum = sums + i;
  const SummedDescriptor *table = group.upload(descs);
  const auto all = [](const SummedDescriptor &) { return true; };
  const auto one = [](const SummedDescriptor &) { return Range{0, 1}; };
  group.addStep(ClearChecksums{table}, rangesOf(descs, 1, all, one));
  group.addStep(SumWords{table}, rangesOf(descs, range::words, all, [](const SummedDescriptor &desc) {
                  return Range{0, (desc.given.bytes + 7) / 8};
                }));
  group.addStep(FinishChecksums{table}, rangesOf(descs, 1, all, one));
  return sums;
}

/// Adds the steps that compute the checksums of payloads that have one, and stores the place of each sum in
/// its descriptor.
template <typename Backend>
void addVerification(GroupOn<Backend> &group, std::vector<PayloadDescriptor> &payloads,
                     const std::vector<bool> &hasChecksum) {
  std::vector<SummedDescriptor> descs;
  for (size_t i = 0; i < payloads.size(); ++i)
    if (hasChecksum[i])
      descs.push_back(
          {const_cast<uint8_t *>(payloads[i].payload), payloads[i], nullptr, /*isWritten=*/false});
  uint64_t *sums = addChecksums(group, descs);
  for (size_t i = 0; i < payloads.size(); ++i)
    if (hasChecksum[i])
      payloads[i].sum = sums++;
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_CHECKSUMS_H
