//===-- CongestionWindowTest.cpp - How many messages a rank has in flight ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An exchange over a link that serves one message after another, in time that is counted and not waited for.
//
//===----------------------------------------------------------------------===//

#include "transport/CongestionWindow.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

using std::chrono::milliseconds, std::chrono::microseconds;

constexpr uint32_t kNarrowest = 3;

/// The k-th message of the others comes when this rank's k-th has got through: `service` for each, and
/// `latency` on top. Returns the time that the exchange took.
CongestionWindow::Clock::duration exchange(CongestionWindow &window, uint64_t messages,
                                           CongestionWindow::Clock::duration service,
                                           CongestionWindow::Clock::duration latency,
                                           CongestionWindow::Clock::duration lateness = {}) {
  CongestionWindow::Clock::time_point now{}, linkIsFree{};
  std::deque<CongestionWindow::Clock::time_point> coming;
  uint64_t sent = 0, received = 0;
  window.begin(kNarrowest);
  while (received < messages) {
    while (sent < messages && window.maySend()) {
      linkIsFree = std::max(linkIsFree, now + lateness) + service;
      coming.push_back(linkIsFree + latency);
      window.noteSent(now);
      ++sent;
    }
    lateness = {};
    if (coming.empty()) {
      ADD_FAILURE() << "nothing is on its way, and nothing may be sent";
      break;
    }
    now = coming.front();
    coming.pop_front();
    window.noteReceived(++received, now);
  }
  return now.time_since_epoch();
}

TEST(CongestionWindowTest, sendsAtLeastTheNarrowestWindow) {
  CongestionWindow window;
  window.begin(kNarrowest);
  for (uint32_t i = 0; i < kNarrowest; ++i) {
    EXPECT_TRUE(window.maySend());
    window.noteSent({});
  }
  EXPECT_FALSE(window.maySend());
  window.noteReceived(1, {});
  EXPECT_TRUE(window.maySend());
}

TEST(CongestionWindowTest, queuesOfASlowLinkStayShort) {
  CongestionWindow window;
  for (int i = 0; i < 5; ++i)
    exchange(window, 100, milliseconds(10), microseconds(100));
  // Two messages are 20 ms of the link: on top of the one that is on it.
  EXPECT_LE(window.width(), kNarrowest + 2);
}

TEST(CongestionWindowTest, aFastLinkIsKeptBusyByManyMessages) {
  CongestionWindow window;
  exchange(window, 200, microseconds(10), microseconds(100));
  EXPECT_EQ(window.width(), CongestionWindow::kWidest);
}

TEST(CongestionWindowTest, aLongLinkIsFilled) {
  CongestionWindow window;
  exchange(window, 400, milliseconds(1), milliseconds(30));
  const auto time = exchange(window, 400, milliseconds(1), milliseconds(30));
  EXPECT_LT(time, milliseconds(400 + 2 * 30));
}

TEST(CongestionWindowTest, ranksThatComeLateDoNotNarrowTheWindow) {
  CongestionWindow window;
  exchange(window, 200, microseconds(100), microseconds(100));
  const double width = window.width();
  exchange(window, 10, microseconds(100), microseconds(100), /*lateness=*/milliseconds(200));
  EXPECT_GE(window.width(), width);
}

TEST(CongestionWindowTest, whatComesBeforeItIsSentSaysNothing) {
  CongestionWindow window;
  window.begin(kNarrowest);
  window.noteReceived(5, {});
  for (uint32_t i = 0; i < 5; ++i)
    window.noteSent(CongestionWindow::Clock::time_point(milliseconds(50)));
  EXPECT_EQ(window.width(), kNarrowest);
  for (uint32_t i = 0; i < kNarrowest; ++i) {
    EXPECT_TRUE(window.maySend());
    window.noteSent({});
  }
  EXPECT_FALSE(window.maySend());
}

} // namespace
} // namespace cgx::test
