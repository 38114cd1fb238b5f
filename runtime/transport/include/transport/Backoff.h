//===-- transport/Backoff.h - Spinning, yielding, sleeping ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A futex wake-up across idle virtual cores costs some 40 us, a flag seen while
// spinning 0.1 us: spin first. With more ranks than cores the peer needs this core:
// yield early. Sleep last, so that a long wait costs no processor time.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_BACKOFF_H
#define CGX_RUNTIME_TRANSPORT_BACKOFF_H

#include "transport/SpinPause.h"
#include "transport/Transport.h"

#include <algorithm>
#include <sched.h>

namespace cgx {

class Backoff {
public:
  explicit Backoff(uint32_t ranksOnHost) : spins(ranksOnHost <= usableCores() ? 2000 : 20) {}

  /// Starts over, because something happened.
  void renew() {
    turns = 0;
    waited = {};
    asleep = false;
  }

  /// Passes a little time. True if it is at the point of sleeping: the
  /// caller then checks on its peers and calls idle().
  bool pass() {
    if (turns < spins) {
      // The peer may have been put on this very core, and then spinning keeps it off.
      if (++turns % kSpinsPerYield == 0)
        sched_yield();
      else
        spinPause();
      return false;
    }
    Clock::time_point now = Clock::now();
    if (turns == spins) {
      ++turns;
      last = now;
    }
    // The limit is a time, not a number of turns: on a busy machine one yield may take milliseconds.
    if (!asleep && now - last < kYielding) {
      sched_yield();
      return false;
    }
    // A turn counts for at most 100 ms, so that the time in which a user has suspended the whole job is not
    // counted.
    waited += std::min<Clock::duration>(now - last, std::chrono::milliseconds(100));
    asleep = true;
    last = now;
    return true;
  }

  /// Returns the time since the last renewal in which this rank was running.
  Clock::duration elapsed() const { return waited; }

  static uint32_t usableCores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? uint32_t(CPU_COUNT(&set)) : 1;
  }

private:
  static constexpr uint32_t kSpinsPerYield = 64; // about 2 us
  static constexpr std::chrono::microseconds kYielding{100};

  uint32_t spins;
  uint32_t turns = 0;
  bool asleep = false;
  Clock::time_point last;
  Clock::duration waited{};
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_BACKOFF_H
