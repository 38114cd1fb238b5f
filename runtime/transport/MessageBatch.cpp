//===-- transport/MessageBatch.cpp - Messages that are waited for together -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/MessageBatch.h"

#include "transport/WaitLoop.h"

#include <algorithm>

namespace cgx {

MessageBatch::~MessageBatch() {
  if (!complete())
    transport.fail(Status(CGX_INTERNAL, "an exchange was abandoned"));
}

void MessageBatch::send(uint32_t peer, Tag tag, std::vector<std::span<const std::byte>> pieces,
                        bool onDevice) {
  Outgoing message{.peer = peer, .tag = tag, .pieces = std::move(pieces), .onDevice = onDevice};
  if (messageBytes(message) == 0)
    return;
  transport.post(outgoing.emplace_back(std::move(message)));
}

void MessageBatch::receive(uint32_t peer, Tag tag, std::vector<std::span<std::byte>> pieces, bool onDevice) {
  Incoming message{.peer = peer, .tag = tag, .pieces = std::move(pieces), .onDevice = onDevice};
  if (messageBytes(message) == 0)
    return;
  transport.post(incoming.emplace_back(std::move(message)));
}

bool MessageBatch::complete() const {
  return std::all_of(outgoing.begin(), outgoing.end(),
                     [](const Outgoing &message) { return message.done; }) &&
         std::all_of(incoming.begin(), incoming.end(), [](const Incoming &message) { return message.done; });
}

Status MessageBatch::poll() {
  bool moved = false;
  return transport.progress(moved);
}

Status MessageBatch::finish() {
  WaitLoop waiting(transport, timeout);
  while (!complete())
    if (Status status = waiting.turn(/*worked=*/false, [&] { return pending(); }); !status.ok())
      return status;
  return Status();
}

std::set<uint32_t> MessageBatch::pending() const {
  std::set<uint32_t> peers;
  for (const Outgoing &message : outgoing)
    if (!message.done)
      peers.insert(message.peer);
  for (const Incoming &message : incoming)
    if (!message.done)
      peers.insert(message.peer);
  return peers;
}

} // namespace cgx
