//===-- profile/Agreement.cpp - Exchange of numbers and text between ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Agreement.h"

namespace cgx {

/// The phases of the messages of this file.
static constexpr uint16_t kSize = 100, kText = 101;

/// Sends bytes from rank 0 to the others; `bytes` has the right size everywhere.
static Status broadcastBytes(Transport &transport, std::chrono::milliseconds timeout, Tag tag,
                             std::span<std::byte> bytes) {
  MessageBatch exchange(transport, timeout);
  if (transport.rank() != 0)
    exchange.receive(0, tag, {bytes});
  for (uint32_t rank = 1; rank < transport.ranks() && transport.rank() == 0; ++rank)
    exchange.send(rank, tag, {bytes});
  return exchange.finish().within("the broadcast of a plan");
}

Result<std::string> broadcastText(Transport &transport, std::chrono::milliseconds timeout, uint64_t step,
                                  const std::string &text) {
  uint64_t size = text.size();
  Tag tag{.step = step, .collective = kProfileCollective, .phase = kSize, .part = 0};
  if (Status status = broadcastBytes(transport, timeout, tag, std::as_writable_bytes(std::span(&size, 1)));
      !status.ok())
    return status;
  std::string received = transport.rank() == 0 ? text : std::string(size, '\0');
  tag.phase = kText;
  if (Status status = broadcastBytes(transport, timeout, tag,
                                     std::as_writable_bytes(std::span(received.data(), received.size())));
      !status.ok())
    return status;
  return received;
}

} // namespace cgx
