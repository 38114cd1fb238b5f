//===-- transport/Pace.cpp - How much to have on its way --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/Pace.h"

#include <algorithm>

namespace cgx {

/// By how much the window changes with a message: it doubles, or halves, while as many travel as it has room
/// for.
static constexpr double kStep = 0.5;
/// Part of the shortest time that is forgotten with each exchange: a path may have become longer.
static constexpr int kForgetting = 16;

void Pace::begin(uint32_t fewest) {
  narrowest = fewest;
  window = std::clamp(window, narrowest, std::max(narrowest, kWidest));
  onTheirWay.clear();
  sent = received = 0;
  if (shortest != Clock::duration::max())
    shortest += shortest / kForgetting;
}

void Pace::noteSent(Clock::time_point now) {
  if (sent++ >= received)
    onTheirWay.push_back({now, received != 0});
}

void Pace::noteReceived(uint64_t count, Clock::time_point now) {
  for (; received < count; ++received) {
    if (onTheirWay.empty()) // this rank is behind the others
      continue;
    const Sent message = onTheirWay.front();
    onTheirWay.pop_front();
    const Clock::duration time = now - message.at;
    shortest = std::min(shortest, time);
    if (time <= shortest + kQueueing)
      window = std::min(window + kStep, std::max(narrowest, kWidest));
    else if (message.isAnswered) // before that, it may have waited for ranks that come later
      window = std::max(window - kStep, narrowest);
  }
}

} // namespace cgx
