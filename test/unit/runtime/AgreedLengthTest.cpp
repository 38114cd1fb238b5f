//===-- AgreedLengthTest.cpp - Agreement on the length of messages --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exchanges run in simulated time. A wish of a rank reaches all others, as results do.
//
//===----------------------------------------------------------------------===//

#include "transport/GroupTraffic.h"

#include <gtest/gtest.h>
#include <set>

namespace cgx::test {
namespace {

constexpr double kMegabit = 1e6 / 8;
constexpr uint64_t kShortest = AgreedLength::kLengths.front(), kLongest = AgreedLength::kLengths.back();

/// Simulates an exchange of ranks that receive `bytes` at a speed of their own. A rank with an empty chunk
/// sends no result, and with it no wish.
void exchange(std::vector<AgreedLength> &ranks, uint64_t bytes, const std::vector<double> &bytesPerSecond,
              const std::vector<bool> &hasResult) {
  constexpr uint64_t count = 64;
  for (AgreedLength &rank : ranks)
    rank.begin(uint32_t(ranks.size()));
  for (size_t self = 0; self < ranks.size(); ++self)
    EXPECT_EQ(ranks[self].bytes(), ranks[0].bytes()) << "rank " << self;
  for (uint64_t message = 0; message < count; ++message)
    for (uint32_t self = 0; self < ranks.size(); ++self) {
      const auto seconds =
          std::chrono::duration<double>(double(message * bytes / count) / bytesPerSecond[self]);
      ranks[self].noteReceived(bytes / count,
                               AgreedLength::Clock::time_point(
                                   std::chrono::duration_cast<AgreedLength::Clock::duration>(seconds)));
      if (!hasResult[self])
        continue;
      const uint32_t wish = ranks[self].say(self);
      for (uint32_t other = 0; other < ranks.size(); ++other)
        if (other != self)
          ranks[other].hear(self, wish);
    }
  for (AgreedLength &rank : ranks)
    rank.end();
}

uint64_t lengthAfter(double bytesPerSecond, uint64_t bytes = 32 << 20) {
  std::vector<AgreedLength> ranks(4);
  // The ranks measure in the first exchange, send their wishes with the second, and have the length in the
  // third.
  for (int i = 0; i < 3; ++i)
    exchange(ranks, bytes, std::vector<double>(4, bytesPerSecond), std::vector<bool>(4, true));
  return ranks[0].bytes();
}

TEST(AgreedLengthTest, aSlowLinkHasShortMessagesAndAFastOneLong) {
  EXPECT_EQ(lengthAfter(100 * kMegabit), kShortest);
  EXPECT_EQ(lengthAfter(1000 * kMegabit), AgreedLength::kLengths[1]);
  EXPECT_EQ(lengthAfter(10000 * kMegabit), kLongest);
}

TEST(AgreedLengthTest, anExchangeOfFewBytesTellsNothing) {
  EXPECT_EQ(lengthAfter(kMegabit, 1 << 20), kLongest);
}

// The count does not depend on earlier exchanges.
TEST(AgreedLengthTest, whatTellsIsCountedAnewInEachExchange) {
  AgreedLength length;
  const auto at = [](int seconds) { return AgreedLength::Clock::time_point(std::chrono::seconds(seconds)); };
  for (const uint64_t bytes :
       {AgreedLength::kTelling - 1, AgreedLength::kTelling - 1, AgreedLength::kTelling}) {
    length.begin(1);
    EXPECT_EQ(length.say(0), AgreedLength::kLengths.size() - 1) << "after too few bytes";
    length.noteReceived(0, at(1));
    length.noteReceived(bytes, at(3));
    length.end();
  }
  length.begin(1);
  EXPECT_EQ(length.say(0), 0u) << "half a MiB a second";
}

TEST(AgreedLengthTest, oneRankThatWasLateChangesNothing) {
  std::vector<AgreedLength> ranks(3);
  for (int i = 0; i < 4; ++i)
    exchange(ranks, 8 << 20, {1e9, 1e6, 1e9}, {true, true, true});
  EXPECT_EQ(ranks[0].bytes(), kLongest);
}

// exchange() compares the lengths of all ranks, for every choice of ranks that can send a wish.
TEST(AgreedLengthTest, allRanksHaveTheSame) {
  uint64_t draw = 1;
  auto next = [&](uint64_t below) {
    return ((draw = draw * 6364136223846793005u + 1442695040888963407u) >> 33) % below;
  };
  std::set<uint64_t> seen;
  for (uint32_t count = 2; count <= 8; ++count)
    for (double speed : {1e7, 4e7, 1e9}) {
      std::vector<AgreedLength> ranks(count);
      for (int i = 0; i < 40; ++i) {
        std::vector<double> speeds(count);
        std::vector<bool> hasResult(count);
        for (uint32_t rank = 0; rank < count; ++rank) {
          speeds[rank] = speed * double(1 + next(3));
          hasResult[rank] = next(3) != 0;
        }
        exchange(ranks, 4 << 20, speeds, hasResult);
        seen.insert(ranks[0].bytes());
      }
    }
  EXPECT_EQ(seen.size(), AgreedLength::kLengths.size());
}

TEST(AgreedLengthTest, aLinkThatBecomesSlowerIsNoticed) {
  std::vector<AgreedLength> ranks(2);
  for (int i = 0; i < 3; ++i)
    exchange(ranks, 8 << 20, {1e9, 1e9}, {true, true});
  EXPECT_EQ(ranks[0].bytes(), kLongest);
  for (int i = 0; i < 200; ++i)
    exchange(ranks, 8 << 20, {1e7, 1e7}, {true, true});
  EXPECT_EQ(ranks[0].bytes(), kShortest);
}

TEST(AgreedLengthTest, aWishThatThereIsNotMeansTheLongest) {
  AgreedLength length;
  length.begin(2);
  length.say(0);
  length.hear(1, 3);
  length.begin(2);
  EXPECT_EQ(length.bytes(), kLongest);
}

TEST(AgreedLengthTest, groupsHaveTrafficOfTheirOwn) {
  GroupTraffics traffics;
  const uint32_t near[] = {0, 1}, far[] = {0, 2};
  traffics.of(near).window.begin(5);
  EXPECT_EQ(traffics.of(near).window.width(), 5);
  EXPECT_EQ(traffics.of(far).window.width(), 0);
}

} // namespace
} // namespace cgx::test
