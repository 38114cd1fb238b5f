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

/// OK, or why the job is over.
Status Exchange::checkPeers(bool late) {
  Status status = transport.checkPeers();
  (void)transport.silence(); // looks at the signs of life
  if (status.ok() && late)
    status = timedOut();
  if (status.ok())
    return status;
  // What a rank said before it left explains more than that it left.
  bool moved = false;
  if (Status told = transport.progress(moved); !told.ok())
    return told;
  transport.fail(status);
  return status;
}

Status Exchange::finish() {
  Patience patience(transport.ranks());
  Clock::time_point nextCheck;
  for (uint32_t busyTurns = 0; !complete();) {
    bool moved = false;
    if (Status status = transport.progress(moved); !status.ok())
      return status;
    bool check = false;
    if (moved) {
      // Survivors may have much to tell each other: look at the others nevertheless.
      patience.renew();
      check = ++busyTurns % 64 == 0 && Clock::now() >= nextCheck;
    } else {
      check = patience.pass();
    }
    if (!check)
      continue;
    if (Status status = checkPeers(/*late=*/patience.elapsed() >= timeout); !status.ok())
      return status;
    nextCheck = Clock::now() + kCheckPeriod;
    if (!moved)
      transport.idle(kCheckPeriod);
  }
  return Status();
}

/// Those of `ranks` that have been silent for the longest time, if it is long at all. A
/// busy machine may keep any rank silent for a while: hence the margins.
static std::set<uint32_t> mostSilent(const std::set<uint32_t> &ranks,
                                     const std::vector<Clock::duration> &silence, Clock::duration timeout) {
  Clock::duration longest{};
  for (uint32_t rank : ranks)
    longest = std::max(longest, silence[rank]);
  std::set<uint32_t> silent;
  for (uint32_t rank : ranks)
    if (silence[rank] >= timeout / 4 && silence[rank] >= longest * 3 / 4)
      silent.insert(rank);
  return silent;
}

/// Blames a silent peer; or, if all peers wait as well, a silent rank that they may
/// wait for; or, if there is none, says that ranks wait for each other.
Status Exchange::timedOut() {
  std::vector<Clock::duration> silence = transport.silence();
  std::set<uint32_t> pending, all;
  for (const Outgoing &message : outgoing)
    if (!message.done)
      pending.insert(message.peer);
  for (const Incoming &message : incoming)
    if (!message.done)
      pending.insert(message.peer);
  for (uint32_t rank = 0; rank < transport.ranks(); ++rank)
    all.insert(rank);
  std::set<uint32_t> blamed = mostSilent(pending, silence, timeout);
  if (blamed.empty())
    blamed = mostSilent(all, silence, timeout);
  bool deadlock = blamed.empty();
  std::string names;
  for (uint32_t rank : deadlock ? pending : blamed)
    names += concat(names.empty() ? "" : ", ", rank);
  return Status::error(CGX_TIMEOUT, "rank ", names,
                       deadlock ? " waits as well, for " : " did not answer for ", timeout.count(), " ms");
}

} // namespace cgx
