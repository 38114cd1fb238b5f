//===-- Meeting.cpp - Regular exchange on ending the run --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Meeting.h"

#include <algorithm>

using namespace cgx::run;

/// The time from one exchange to the next: short enough for a user who waits. The number of steps is limited
/// because steps may become slower.
static constexpr double kSeconds = 0.1;
static constexpr uint64_t kMostSteps = 256;

double Meetings::secondsPerStep(uint64_t done) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - lastTime_).count();
  return done == last_ ? kSeconds : seconds / static_cast<double>(done - last_);
}

void Meetings::held(uint64_t done, std::span<const Sign> signs) {
  double slowest = 1e-9;
  for (const Sign &sign : signs)
    slowest = std::max(slowest, sign.secondsPerStep);
  // The exchanges are frequent at first, because the first steps say little about the duration of the others.
  const auto affordable = static_cast<uint64_t>(std::min(kSeconds / slowest, double(kMostSteps)));
  next_ = done + std::clamp<uint64_t>(std::min(affordable, done), 1, kMostSteps);
  last_ = done;
  lastTime_ = Clock::now();
}
