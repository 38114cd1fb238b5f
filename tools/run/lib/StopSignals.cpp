//===-- StopSignals.cpp - Signals that ask a run to stop --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StopSignals.h"

#include "cgx/output/OutputFile.h"

#include <unistd.h>

using namespace cgx::run;

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE};

// These are global because a signal handler can reach nothing else.
StopSignal received{0};
std::atomic<bool> secondEnds{true};
std::atomic<int> joins{0};
static_assert(StopSignal::is_always_lock_free);

extern "C" void onStopSignal(int signal) {
  int none = 0;
  // A SIGPIPE never counts as the second signal, because each line that nobody reads raises another one.
  if (!received.compare_exchange_strong(none, signal) && secondEnds && signal != SIGPIPE) {
    cgx::removeUnfinishedOutput();
    ::_exit(128 + signal);
  }
}

extern "C" void onJoinSignal(int) { ++joins; }

} // namespace

const StopSignal &cgx::run::stopSignal() { return received; }

StopSignals::StopSignals() {
  static const bool isPipeIgnored = [] { // the process that started this one chose that
    struct sigaction now = {};
    return ::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
  }();
  received = 0;
  secondEnds = true;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &oldMask_);
  struct sigaction action = {};
  action.sa_handler = onStopSignal;
  ::sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], &action, &old_[i]);
    // A process that ignores SIGHUP or SIGPIPE, as nohup does, wants the run to continue.
    if (kSignals[i] == SIGPIPE ? isPipeIgnored : kSignals[i] == SIGHUP && old_[i].sa_handler == SIG_IGN)
      ::sigaction(kSignals[i], &old_[i], nullptr);
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] != SIGPIPE)
      ::sigaction(kSignals[i], &old_[i], nullptr);
  // The run still saves and reports, and nobody may read its output.
  std::signal(SIGPIPE, SIG_IGN);
  unblock();
}

void StopSignals::takeRepeatedly() { secondEnds = false; }

void StopSignals::block() {
  sigset_t blocked = oldMask_;
  for (int signal : kSignals)
    ::sigaddset(&blocked, signal);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

void StopSignals::unblock() { ::pthread_sigmask(SIG_SETMASK, &oldMask_, nullptr); }

JoinSignal::JoinSignal() {
  struct sigaction action = {};
  action.sa_handler = onJoinSignal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(kJoinSignal, &action, &old_);
}

JoinSignal::~JoinSignal() { ::sigaction(kJoinSignal, &old_, nullptr); }

int JoinSignal::take() { return joins.exchange(0); }

int cgx::run::joinRequests() { return joins; }
