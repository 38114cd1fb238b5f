//===-- StopSignals.h - Signals that ask a run to stop ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_STOPSIGNALS_H
#define CGX_RUN_LIB_STOPSIGNALS_H

#include "cgx/run/Job.h"

#include <csignal>

namespace cgx::run {

/// A scope in which SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGPIPE set stopSignal() instead of ending the
/// process; a second one ends it. There is one such object at a time. SIGPIPE means that standard output is
/// closed, as when a terminal is gone; it asks the run to stop like the others, and is ignored afterwards.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

  /// Lets a second signal change nothing from here on. Ranks need that: they get one signal from the terminal
  /// and one from their parent, which ends them when they take too long.
  void takeRepeatedly();

  /// Blocks the signals except in waits that are given waitMask(), so that none can come between a look at
  /// stopSignal() and the wait.
  void block();
  void unblock();
  const sigset_t &waitMask() const { return oldMask_; }

private:
  struct sigaction old_[5];
  sigset_t oldMask_;
};

const StopSignal &stopSignal();

/// The signal that asks an elastic job for one more rank.
constexpr int kJoinSignal = SIGUSR2;

/// A scope in which kJoinSignal is counted instead of ending the process and the processes that it forks.
class JoinSignal {
public:
  JoinSignal();
  ~JoinSignal();
  JoinSignal(const JoinSignal &) = delete;
  JoinSignal &operator=(const JoinSignal &) = delete;

  /// Returns how many signals came since the last call.
  int take();

private:
  struct sigaction old_;
};

/// Returns how many ranks are to join.
int joinRequests();

} // namespace cgx::run

#endif // CGX_RUN_LIB_STOPSIGNALS_H
