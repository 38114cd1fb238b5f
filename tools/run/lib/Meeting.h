//===-- Meeting.h - Regular exchange on ending the run ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signal reaches ranks at different moments, but all must end after the same step. So they
// exchange their state about ten times per second. The number of steps in between follows from
// the values that they exchange, and is equal on all ranks.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_MEETING_H
#define CGX_RUN_LIB_MEETING_H

#include "cgx/run/Job.h"

#include <chrono>

namespace cgx::run {

/// The state that each rank tells the others.
struct Sign {
  int32_t signal = 0; ///< the signal that asked it to stop
  uint16_t isLossNotFinite = 0;
  uint16_t isJoinWanted = 0;
  double secondsPerStep = 0; ///< since the last exchange
};

class Meetings {
public:
  /// Returns true if an exchange is due after `done` steps.
  bool isDue(uint64_t done) const { return done == next_; }

  /// Returns the seconds per step since the last exchange.
  double secondsPerStep(uint64_t done) const;

  /// Chooses the next exchange from the signs of all ranks.
  void held(uint64_t done, std::span<const Sign> signs);

private:
  using Clock = std::chrono::steady_clock;

  uint64_t next_ = 0, last_ = 0;
  Clock::time_point lastTime_ = Clock::now();
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_MEETING_H
