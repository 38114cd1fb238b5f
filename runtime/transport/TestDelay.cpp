//===-- transport/TestDelay.cpp - Repeatable random delays ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/TestDelay.h"

#ifdef CGX_TEST_DELAYS

#include "status/Digest.h"
#include "status/Status.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <thread>

namespace cgx {

namespace {

/// The number of times that the process has come to a place, indexed by the place's digest.
std::array<std::atomic<uint64_t>, 64> passed;
/// The number of forks between the first process and this one at its start.
std::atomic<uint32_t> forks{0};

/// Returns the number in the environment as text; null if there is none.
const char *givenSeed() {
  static const char *const seed = [] {
    const char *given = std::getenv("CGX_TEST_DELAYS");
    if (!given || !*given)
      return static_cast<const char *>(nullptr);
    pthread_atfork([] { ++forks; }, nullptr, [] { std::ranges::fill(passed, 0); });
    return given;
  }();
  return seed;
}

} // namespace

void testDelay(const char *place, uint32_t oneIn) {
  const char *seed = givenSeed();
  if (!seed)
    return;
  // The low bits of the digest choose the counter, the next ones decide the delay.
  const uint64_t often = ++passed[digestOf(place) % passed.size()];
  const uint64_t luck = digestOf(concat(seed, "/", forks, "/", place, "/", often));
  if ((luck >> 8) % oneIn != 0)
    return;
  constexpr std::chrono::microseconds longest{51200};
  std::this_thread::sleep_for(longest / (1 << luck % 10));
}

} // namespace cgx

#endif
