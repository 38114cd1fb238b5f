//===-- transport/Waiting.h - The one place that waits ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a loop that does what it can into one that waits: it spins, then yields, then
// sleeps, and notices ranks that die or stay silent.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_WAITING_H
#define CGX_RUNTIME_TRANSPORT_WAITING_H

#include "transport/Backoff.h"
#include "transport/Transport.h"

#include <set>

namespace cgx {

class Waiting {
public:
  /// Longest sleep between two looks at the peers: bounds how late a death is noticed.
  static constexpr std::chrono::microseconds kCheckPeriod{5000};

  /// How many times longer a rank is waited for whose process runs, but does not call the runtime.
  static constexpr int kSlowness = 20;

  /// `timeout` is the longest time without any progress of whose process nobody knows that it runs. Who waits
  /// for what rings no doorbell, such as a GPU, takes shorter `naps`.
  Waiting(Transport &transport, std::chrono::milliseconds timeout,
          std::chrono::microseconds naps = kCheckPeriod)
      : transport(transport), timeout(timeout), naps(naps), backoff(transport.ranks()) {}

  /// Ends a turn of the loop. `worked` says whether the loop did something in it;
  /// `pending()` is the ranks that it waits for.
  template <typename Pending> Status turn(bool worked, Pending pending) {
    if (Status reason = transport.interruption(); !reason.ok()) {
      transport.fail(reason);
      return reason;
    }
    bool moved = false;
    // Who finds work to do need not look up each time.
    if (!worked || ++busyTurns % kTurnsPerLook == 0)
      if (Status status = transport.progress(moved); !status.ok())
        return status;
    bool check = false;
    if (worked || moved) {
      // Survivors may have much to tell each other: look at the others nevertheless.
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
  bool waitsForTheSlow(const std::set<uint32_t> &pending, const std::vector<Clock::duration> &absence);

  Transport &transport;
  std::chrono::milliseconds timeout;
  std::chrono::microseconds naps;
  Backoff backoff;
  /// How much of the time waited was for ranks that were slow: who comes back has all of the timeout again.
  Clock::duration excused{};
  Clock::time_point nextCheck;
  uint32_t busyTurns = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_WAITING_H
