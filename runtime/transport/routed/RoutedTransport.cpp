//===-- routed/RoutedTransport.cpp - Two transports as one ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoutedTransport.h"

#include <algorithm>

namespace cgx {

RoutedTransport::RoutedTransport(std::unique_ptr<Transport> outer, std::unique_ptr<Transport> inner,
                                 std::vector<uint32_t> members)
    : outer(std::move(outer)), inner(std::move(inner)), sentBefore(this->outer->bytesSent()),
      members(std::move(members)), innerRanks(ranks()) {
  for (uint32_t i = 0; i < this->members.size(); ++i)
    innerRanks[this->members[i]] = i;
}

template <typename Message>
void RoutedTransport::postInside(Message &message, uint32_t peer, std::list<Double<Message>> &doubles) {
  Double<Message> &added = doubles.emplace_back(Double<Message>{message, &message});
  added.message.peer = peer;
  inner->post(added.message);
}

void RoutedTransport::post(Outgoing &message) {
  if (std::optional<uint32_t> peer = innerRanks[message.peer])
    postInside(message, *peer, outgoing);
  else
    outer->post(message);
}

void RoutedTransport::post(Incoming &message) {
  if (std::optional<uint32_t> peer = innerRanks[message.peer])
    postInside(message, *peer, incoming);
  else
    outer->post(message);
}

template <typename Doubles> static void finishDone(Doubles &doubles) {
  std::erase_if(doubles, [](const auto &one) {
    if (one.message.done)
      one.original->done = true;
    return one.message.done;
  });
}

Status RoutedTransport::shared(const Status &status) {
  if (!status.ok())
    fail(status);
  return status;
}

Status RoutedTransport::progress(bool &moved) {
  bool movedInside = false, movedOutside = false;
  if (Status status = inner->progress(movedInside); !status.ok())
    return shared(status);
  finishDone(outgoing);
  finishDone(incoming);
  if (Status status = outer->progress(movedOutside); !status.ok())
    return shared(status);
  moved = movedInside || movedOutside;
  return Status();
}

void RoutedTransport::idle(std::chrono::microseconds limit) {
  // Both calls show that this rank waits. Only one may sleep: the one without a doorbell, which therefore
  // wakes soon.
  inner->idle(std::chrono::microseconds(0));
  outer->idle(limit);
}

Status RoutedTransport::checkPeers() {
  if (Status status = inner->checkPeers(); !status.ok())
    return status;
  return outer->checkPeers();
}

std::vector<Clock::duration> RoutedTransport::sinceProgress() {
  std::vector<Clock::duration> times = outer->sinceProgress(), innerTimes = inner->sinceProgress();
  for (size_t i = 0; i < members.size(); ++i)
    times[members[i]] = std::min(times[members[i]], innerTimes[i]);
  return times;
}

std::vector<Clock::duration> RoutedTransport::sinceHeartbeat() {
  std::vector<Clock::duration> times = outer->sinceHeartbeat(), innerTimes = inner->sinceHeartbeat();
  for (size_t i = 0; i < members.size(); ++i)
    times[members[i]] = std::min(times[members[i]], innerTimes[i]);
  return times;
}

void RoutedTransport::fail(const Status &reason) {
  inner->fail(reason);
  outer->fail(reason);
}

const Status &RoutedTransport::failure() const {
  return inner->failure().ok() ? outer->failure() : inner->failure();
}

} // namespace cgx
