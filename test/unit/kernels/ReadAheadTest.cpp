//===-- ReadAheadTest.cpp - The prefetch distance that is found -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "simd/ReadAhead.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

using cgx::ReadAhead;

namespace {

/// Returns the cost of a distance on a machine for which `best` is the best, and others are worse the further
/// they are from it.
float costOn(uint32_t best, uint32_t distance) {
  return 1.0f + std::abs(float(distance) - float(best)) / 32768;
}

/// Runs a search, every fifth trial of which is disturbed.
void search(ReadAhead &readAhead, uint32_t best) {
  for (uint32_t piece = 0; piece < ReadAhead::period; ++piece) {
    const ReadAhead::Piece now = readAhead.begin();
    readAhead.end(now, costOn(best, now.distance) * (piece % 5 == 0 ? 100.0f : 1.0f));
  }
}

TEST(ReadAhead, FindsTheBestDistance) {
  for (uint32_t best : ReadAhead::distances) {
    ReadAhead readAhead;
    search(readAhead, best);
    EXPECT_EQ(readAhead.distance(), best);
  }
}

TEST(ReadAhead, FollowsAChange) {
  ReadAhead readAhead;
  search(readAhead, 3072);
  search(readAhead, 16384);
  EXPECT_EQ(readAhead.distance(), 16384u);
}

TEST(ReadAhead, KeepsWhatItHasWhereAllAreAlike) {
  ReadAhead readAhead;
  search(readAhead, 3072);
  for (uint32_t piece = 0; piece < ReadAhead::period; ++piece) {
    const ReadAhead::Piece now = readAhead.begin();
    readAhead.end(now, now.distance == 3072 ? 1.01f : 1.0f);
  }
  EXPECT_EQ(readAhead.distance(), 3072u);
}

TEST(ReadAhead, ThreadsSearchTogether) {
  ReadAhead readAhead;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { search(readAhead, 16384); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(readAhead.distance(), 16384u);
}

TEST(ReadAhead, StepsCoverTheRangeOnce) {
  // Steps are longer than a piece or shorter; ranges end within a piece, or are empty.
  for (uint64_t step : {512u, 4096u, 100000u}) {
    for (uint64_t steps : {0u, 1u, 7u, 200u}) {
      ReadAhead readAhead;
      uint64_t next = 0;
      readAhead.forPieces(step * steps, step, 4, [&](uint64_t begin, uint32_t) {
        EXPECT_EQ(begin, next);
        next += step;
      });
      EXPECT_EQ(next, step * steps);
    }
  }
}

} // namespace
