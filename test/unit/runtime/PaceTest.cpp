//===-- PaceTest.cpp - Rate limit of sending ------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exchange is over a link that serves one message after the other, in simulated time.
//
//===----------------------------------------------------------------------===//

#include "transport/Pace.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

using std::chrono::milliseconds, std::chrono::microseconds;

constexpr uint32_t kNarrowest = 3;

/// Simulates an exchange in which the k-th message of the others arrives when this rank's k-th has been
/// delivered: after `service` for each, and `latency`. Returns the duration of the exchange.
Pace::Clock::duration exchange(Pace &pace, uint64_t messages, Pace::Clock::duration service,
                               Pace::Clock::duration latency, Pace::Clock::duration lateness = {}) {
  Pace::Clock::time_point now{}, linkIsFree{};
  std::deque<Pace::Clock::time_point> coming;
  uint64_t sent = 0, received = 0;
  pace.begin(kNarrowest);
  while (received < messages) {
    while (sent < messages && pace.maySend()) {
      linkIsFree = std::max(linkIsFree, now + lateness) + service;
      coming.push_back(linkIsFree + latency);
      pace.noteSent(now);
      ++sent;
    }
    lateness = {};
    if (coming.empty()) {
      ADD_FAILURE() << "nothing is on its way, and nothing may be sent";
      break;
    }
    now = coming.front();
    coming.pop_front();
    pace.noteReceived(++received, now);
  }
  return now.time_since_epoch();
}

TEST(PaceTest, sendsAtLeastTheNarrowestWindow) {
  Pace pace;
  pace.begin(kNarrowest);
  for (uint32_t i = 0; i < kNarrowest; ++i) {
    EXPECT_TRUE(pace.maySend());
    pace.noteSent({});
  }
  EXPECT_FALSE(pace.maySend());
  pace.noteReceived(1, {});
  EXPECT_TRUE(pace.maySend());
}

TEST(PaceTest, queuesOfASlowLinkStayShort) {
  Pace pace;
  for (int i = 0; i < 5; ++i)
    exchange(pace, 100, milliseconds(10), microseconds(100));
  // Two messages take 20 ms of the link, in addition to the one in transit.
  EXPECT_LE(pace.width(), kNarrowest + 2);
}

TEST(PaceTest, aFastLinkIsKeptBusyByManyMessages) {
  Pace pace;
  exchange(pace, 200, microseconds(10), microseconds(100));
  EXPECT_EQ(pace.width(), Pace::kWidest);
}

TEST(PaceTest, aLongLinkIsFilled) {
  Pace pace;
  exchange(pace, 400, milliseconds(1), milliseconds(30));
  const auto time = exchange(pace, 400, milliseconds(1), milliseconds(30));
  EXPECT_LT(time, milliseconds(400 + 2 * 30));
}

TEST(PaceTest, ranksThatComeLateDoNotNarrowTheWindow) {
  Pace pace;
  exchange(pace, 200, microseconds(100), microseconds(100));
  const double width = pace.width();
  exchange(pace, 10, microseconds(100), microseconds(100), /*lateness=*/milliseconds(200));
  EXPECT_GE(pace.width(), width);
}

TEST(PaceTest, whatComesBeforeItIsSentSaysNothing) {
  Pace pace;
  pace.begin(kNarrowest);
  pace.noteReceived(5, {});
  for (uint32_t i = 0; i < 5; ++i)
    pace.noteSent(Pace::Clock::time_point(milliseconds(50)));
  EXPECT_EQ(pace.width(), kNarrowest);
  for (uint32_t i = 0; i < kNarrowest; ++i) {
    EXPECT_TRUE(pace.maySend());
    pace.noteSent({});
  }
  EXPECT_FALSE(pace.maySend());
}

} // namespace
} // namespace cgx::test
