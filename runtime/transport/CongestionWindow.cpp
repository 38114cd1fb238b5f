//===-- transport/CongestionWindow.cpp - How many messages may be in flight -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/CongestionWindow.h"

#include <algorithm>

namespace cgx {

/// The change of the window per message: it doubles, or halves, over as many messages as fit in it.
static constexpr double kStep = 0.5;
/// The share of the shortest time that each exchange forgets, since a path may have become longer.
static constexpr int kForgetting = 16;

void CongestionWindow::begin(uint32_t fewest) {
  narrowest = fewest;
  window = std::clamp(window, narrowest, std::max(narrowest, kWidest));
  onTheirWay.clear();
  sent = received = 0;
  if (shortest != Clock::duration::max())
    shortest += shortest / kForgetting;
}

void CongestionWindow::noteSent(Clock::time_point now) {
  if (sent++ >= received)
    onTheirWay.push_back({now, received != 0});
}

void CongestionWindow::noteReceived(uint64_t count, Clock::time_point now) {
  for (; received < count; ++received) {
    if (onTheirWay.empty()) // the others are ahead of this rank
      continue;
    const Sent message = onTheirWay.front();
    onTheirWay.pop_front();
    const Clock::duration time = now - message.at;
    shortest = std::min(shortest, time);
    if (time <= shortest + kQueueing)
      window = std::min(window + kStep, std::max(narrowest, kWidest));
    else if (message.isAnswered) // an earlier message may have waited for ranks that start later
      window = std::max(window - kStep, narrowest);
  }
}

} // namespace cgx
