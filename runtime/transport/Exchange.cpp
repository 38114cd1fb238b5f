//===-- transport/Exchange.cpp - Post messages, wait for all -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/Exchange.h"

#include "transport/Patience.h"

#include <algorithm>
#include <set>

namespace cgx {

/// Longest sleep between two looks at the peers: bounds how late a death is noticed.
static constexpr std::chrono::milliseconds kCheckPeriod{5};

Exchange::~Exchange() {
  if (!complete())
    transport.fail(Status(CGX_INTERNAL, "an exchange was abandoned"));
}

void Exchange::send(uint32_t peer, Tag tag, std::vector<std::span<const std::byte>> pieces) {
  Outgoing message{.peer = peer, .tag = tag, .pieces = std::move(pieces)};
  if (messageBytes(message) == 0)
    return;
  transport.post(outgoing.emplace_back(std::move(message)));
}

void Exchange::receive(uint32_t peer, Tag tag, std::vector<std::span<std::byte>> pieces) {
  Incoming message{.peer = peer, .tag = tag, .pieces = std::move(pieces)};
  if (messageBytes(message) == 0)
    return;
  transport.post(incoming.emplace_back(std::move(message)));
}

bool Exchange::complete() const {
  return std::all_of(outgoing.begin(), outgoing.end(),
                     [](const Outgoing &message) { return message.done; }) &&
         std::all_of(incoming.begin(), incoming.end(), [](const Incoming &message) { return message.done; });
}

Status Exchange::poll() {
  bool moved = false;
  return transport.progress(moved);
}

Status Exchange::finish() {
  Patience patience(transport.ranks());
  while (!complete()) {
    bool moved = false;
    if (Status status = transport.progress(moved); !status.ok())
      return status;
    if (moved) {
      patience.renew();
      continue;
    }
    if (!patience.pass())
      continue;
    Status status = transport.checkPeers();
    transport.silentRanks(timeout); // looks at the signs of life
    if (status.ok() && patience.elapsed() >= timeout)
      status = timedOut();
    if (!status.ok()) {
      // What a rank said before it left explains more than that it left.
      if (Status told = transport.progress(moved); !told.ok())
        return told;
      transport.fail(status);
      return status;
    }
    transport.idle(kCheckPeriod);
  }
  return Status();
}

/// Blames the ranks that show no sign of life; those that wait as well are victims.
Status Exchange::timedOut() {
  std::set<uint32_t> pending;
  for (const Outgoing &message : outgoing)
    if (!message.done)
      pending.insert(message.peer);
  for (const Incoming &message : incoming)
    if (!message.done)
      pending.insert(message.peer);
  std::vector<uint32_t> silent = transport.silentRanks(timeout / 2);
  bool culprits = !silent.empty();
  if (!culprits)
    silent.assign(pending.begin(), pending.end());
  std::string names;
  for (uint32_t rank : silent)
    names += concat(names.empty() ? "" : ", ", rank);
  return Status::error(CGX_TIMEOUT, "rank ", names,
                       culprits ? " did not answer for " : " waits as well, for ", timeout.count(), " ms");
}

} // namespace cgx
