//===-- Placement.cpp - Distance of this machine's cores --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Virtual cores may be siblings of one core, neighbors, or far apart, and may move; times for a
// megabyte differ by a factor of four between these cases. A flag that two spinning threads pass
// to each other tells them apart: it takes about 0.1 us, 0.2 us or 0.4 us.
//
//===----------------------------------------------------------------------===//

#include "Bench.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace cgx::bench {

double spinRoundTrip() {
  constexpr int trips = 2000;
  using Clock = std::chrono::steady_clock;
  std::array<double, 9> times;
  for (double &time : times) {
    alignas(64) std::atomic<int> ball{0};
    auto bounce = [&](int parity) {
      for (int i = 0; i < trips; ++i) {
        int spins = 0;
        while (ball.load(std::memory_order_acquire) % 2 != parity)
          if (++spins % 10000 == 0)
            std::this_thread::yield(); // there may be only one core
        ball.fetch_add(1, std::memory_order_release);
      }
    };
    Clock::time_point begin = Clock::now();
    std::thread other(bounce, 1);
    bounce(0);
    other.join();
    time = std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / trips;
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

} // namespace cgx::bench
