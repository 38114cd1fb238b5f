//===-- transport/WaitLoop.h - The loop that waits for ranks ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a loop of non-blocking work into one that waits: it spins, then yields, then sleeps, and notices
// ranks that die or stay silent.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_WAITLOOP_H
#define CGX_RUNTIME_TRANSPORT_WAITLOOP_H

#include "transport/Backoff.h"
#include "transport/Transport.h"

#include <set>

namespace cgx {

class WaitLoop {
public:
  /// The longest sleep between two checks of the peers, which bounds how late a death is noticed.
  static constexpr std::chrono::microseconds kCheckPeriod{5000};

  /// The factor by which the timeout is extended for a rank whose process sends heartbeats but does not call
  /// the runtime.
  static constexpr int kSlowness = 20;

  /// `timeout` is the longest time without progress of a rank that sends no heartbeats. A wait for something
  /// that rings no doorbell, such as a GPU, takes shorter `naps`.
  WaitLoop(Transport &transport, std::chrono::milliseconds timeout,
           std::chrono::microseconds naps = kCheckPeriod)
      : transport(transport), timeout(timeout), naps(naps), backoff(transport.ranks()) {}

  /// Ends a turn of the loop. `worked` tells whether the loop did something in it; `pending()` returns the
  /// ranks that it waits for.
  template <typename Pending> Status turn(bool worked, Pending pending) {
    if (Status reason = transport.interruption(); !reason.ok()) {
      transport.fail(reason);
      return reason;
    }
    bool moved = false;
    // While the loop finds work, the transport need not be polled in each turn.
    if (!worked || ++busyTurns % kTurnsPerLook == 0)
      if (Status status = transport.progress(moved); !status.ok())
        return status;
    bool check = false;
    if (worked || moved) {
      // Surviving ranks may exchange many messages, so the peers are checked nevertheless.
      backoff.renew();
      excused = {};
      check = ++busyTurns % kTurnsPerCheck == 0 && Clock::now() >= nextCheck;
    } else {
      check = backoff.pass();
    }
    if (!check)
      return Status();
    if (Status status = checkPeers(pending()); !status.ok())
      return status;
    nextCheck = Clock::now() + kCheckPeriod;
    if (!worked && !moved)
      transport.idle(naps);
    return Status();
  }

private:
  static constexpr uint32_t kTurnsPerLook = 16;
  static constexpr uint32_t kTurnsPerCheck = 64;

  Status checkPeers(const std::set<uint32_t> &pending);
  Status timedOut(const std::set<uint32_t> &pending);
  bool waitsForTheSlow(const std::set<uint32_t> &pending, const std::vector<Clock::duration> &sinceHeartbeat);

  Transport &transport;
  std::chrono::milliseconds timeout;
  std::chrono::microseconds naps;
  Backoff backoff;
  /// The part of the time waited that was for slow ranks. After a rank has returned, it has the full timeout
  /// again.
  Clock::duration excused{};
  Clock::time_point nextCheck;
  uint32_t busyTurns = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_WAITLOOP_H
