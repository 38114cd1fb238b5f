//===-- AlignedPayloads.cpp - Payloads at addresses that kernels accept ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/layers/AlignedPayloads.h"

#include "cuda/stream/DeviceStatus.h"

namespace cgx {

static constexpr uint64_t kAlignment = 8;

Status AlignedPayloads::make(const std::byte *buffer, std::vector<Extent> of) {
  payloads = std::move(of);
  places.clear();
  copies.clear();
  uint64_t used = 0;
  for (const Extent &payload : payloads) {
    std::optional<uint64_t> &place = places.emplace_back();
    if (reinterpret_cast<uintptr_t>(buffer + payload.begin) % kAlignment == 0)
      continue;
    place = used;
    // Payloads that are contiguous in both places are one copy.
    if (!copies.empty() && copies.back().inBuffer + copies.back().bytes == payload.begin &&
        copies.back().inMemory + copies.back().bytes == used)
      copies.back().bytes += payload.bytes;
    else
      copies.push_back({payload.begin, used, payload.bytes});
    used += (payload.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (used <= memory.bytes())
    return Status();
  return statusOf(memory.allocate(cuda::MemoryKind::device, used));
}

Status AlignedPayloads::copyFrom(const std::byte *buffer, cuda::Stream stream) const {
  for (const Copy &copy : copies)
    if (Status status = statusOf(
            cuda::copy(memory.get<std::byte>() + copy.inMemory, buffer + copy.inBuffer, copy.bytes, stream));
        !status.ok())
      return status;
  return Status();
}

Status AlignedPayloads::copyTo(std::byte *buffer, cuda::Stream stream) const {
  for (const Copy &copy : copies)
    if (Status status = statusOf(
            cuda::copy(buffer + copy.inBuffer, memory.get<std::byte>() + copy.inMemory, copy.bytes, stream));
        !status.ok())
      return status;
  return Status();
}

} // namespace cgx
