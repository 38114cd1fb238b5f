//===-- StopSignals.h - Being asked to stop ---------------------*- C++ -*-===//
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

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGPIPE set stopSignal() instead of ending
/// the process; a second one ends it. There is one at a time. SIGPIPE means that nobody reads any more what
/// the run prints, as when a terminal is gone; it ends nothing at once, and is ignored afterwards.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

  /// From here on a second signal changes nothing: for ranks, which get one from the
  /// terminal and one from their parent, and which the parent ends when they linger.
  void takeRepeatedly();

  /// Holds the signals back, but in waits that are given waitMask(): so none can
  /// come between a look at stopSignal() and the wait.
  void block();
  void unblock();
  const sigset_t &waitMask() const { return oldMask_; }

private:
  struct sigaction old_[5];
  sigset_t oldMask_;
};

const StopSignal &stopSignal();

/// Asks an elastic job for one more rank.
constexpr int kJoinSignal = SIGUSR2;

/// While it lives, kJoinSignal is counted instead of ending the process, and the processes that it forks.
class JoinSignal {
public:
  JoinSignal();
  ~JoinSignal();
  JoinSignal(const JoinSignal &) = delete;
  JoinSignal &operator=(const JoinSignal &) = delete;

  /// How many came since it was asked last.
  int take();

private:
  struct sigaction old_;
};

/// How many ranks are to join.
int joinRequests();

} // namespace cgx::run

#endif // CGX_RUN_LIB_STOPSIGNALS_H
