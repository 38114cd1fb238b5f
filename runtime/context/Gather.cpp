//===-- context/Gather.cpp - Sends bytes of all ranks to rank 0 -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "context/Gather.h"

#include "transport/MessageBatch.h"

#include <exception>
#include <string>

namespace cgx {

static constexpr uint32_t kGatherCollective = 0xfffffffe;

/// The phases: first sizes, then bytes.
enum GatherPhase : uint16_t { kSizes, kBytes, kToAll };

static Status noMemory(const std::vector<uint64_t> &sizes) {
  std::string text;
  for (uint64_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return Status::error(CGX_RESOURCE_EXHAUSTED, "rank 0 has no memory for what the ranks hand over: ", text,
                       " bytes");
}

Result<std::vector<std::vector<std::byte>>> gather(Transport &transport, std::chrono::milliseconds timeout,
                                                   uint64_t step, std::span<const std::byte> bytes) {
  std::vector<std::vector<std::byte>> gathered;
  auto tag = [&](GatherPhase phase) {
    return Tag{.step = step, .collective = kGatherCollective, .phase = phase};
  };
  if (transport.rank() != 0) {
    uint64_t size = bytes.size();
    MessageBatch exchange(transport, timeout);
    exchange.send(0, tag(kSizes), {std::as_bytes(std::span(&size, 1))});
    exchange.send(0, tag(kBytes), {bytes});
    if (Status status = exchange.finish(); !status.ok())
      return status;
    return gathered;
  }
  std::vector<uint64_t> sizes(transport.ranks(), bytes.size());
  {
    MessageBatch exchange(transport, timeout);
    for (uint32_t rank = 1; rank < transport.ranks(); ++rank)
      exchange.receive(rank, tag(kSizes), {std::as_writable_bytes(std::span(&sizes[rank], 1))});
    if (Status status = exchange.finish(); !status.ok())
      return status;
  }
  // The sizes come from other ranks. If there is no memory for them, all ranks must be told, because they
  // wait.
  try {
    gathered.emplace_back(bytes.begin(), bytes.end());
    for (uint32_t rank = 1; rank < transport.ranks(); ++rank)
      gathered.emplace_back(sizes[rank]);
  } catch (const std::exception &) {
    const Status status = noMemory(sizes);
    transport.fail(status);
    return status;
  }
  MessageBatch exchange(transport, timeout);
  for (uint32_t rank = 1; rank < transport.ranks(); ++rank)
    exchange.receive(rank, tag(kBytes), {gathered[rank]});
  if (Status status = exchange.finish(); !status.ok())
    return status;
  return gathered;
}

Result<std::vector<std::vector<std::byte>>> allGather(Transport &transport, std::chrono::milliseconds timeout,
                                                      uint64_t step, std::span<const std::byte> bytes) {
  std::vector<std::vector<std::byte>> gathered(transport.ranks(), {bytes.begin(), bytes.end()});
  const Tag tag{.step = step, .collective = kGatherCollective, .phase = kToAll};
  MessageBatch exchange(transport, timeout);
  for (uint32_t rank = 0; rank < transport.ranks(); ++rank) {
    if (rank == transport.rank())
      continue;
    exchange.receive(rank, tag, {gathered[rank]});
    exchange.send(rank, tag, {bytes});
  }
  if (Status status = exchange.finish(); !status.ok())
    return status;
  return gathered;
}

} // namespace cgx
