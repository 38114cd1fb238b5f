//===-- ExpectedTest.cpp - Detecting wrong results of a benchmark ---------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expected.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace cgx::bench;

namespace {

constexpr uint32_t ranks = 3;
constexpr uint64_t elements = 12, part = elements / ranks;

/// Computes, without Expected, the results of this rank.
std::vector<float> resultsOf(const std::string &collective, uint32_t rank) {
  std::vector<float> sums(elements), all, exchanged;
  for (uint32_t from = 0; from < ranks; ++from)
    for (uint64_t i = 0; i < elements; ++i) {
      sums[i] += inputOf(from, i);
      all.push_back(inputOf(from, i));
      if (i / part == rank)
        exchanged.push_back(inputOf(from, i));
    }
  if (collective == "all_reduce")
    return sums;
  if (collective == "reduce_scatter")
    return {sums.begin() + int64_t(rank * part), sums.begin() + int64_t((rank + 1) * part)};
  if (collective == "all_gather")
    return all;
  return collective == "all_to_all" ? exchanged : std::vector<float>(all.begin(), all.begin() + elements);
}

TEST(Expected, CountsWhatIsWrong) {
  for (const char *collective : {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"})
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const Expected expected = {collective, ranks, elements};
      std::vector<float> results = resultsOf(collective, rank);
      ASSERT_EQ(results.size(), expected.results()) << collective;
      EXPECT_EQ(expected.countWrong(rank, results), 0u) << collective;
      results.front() += 1e-3f;
      results.back() = std::nanf("");
      EXPECT_EQ(expected.countWrong(rank, results), 2u) << collective;
      EXPECT_EQ(countNotFinite(results), 1u);
    }
}

TEST(Expected, DigestsTellResultsApart) {
  std::vector<float> results = resultsOf("all_reduce", 0);
  const uint64_t digest = digestOf(results);
  EXPECT_EQ(digestOf(results), digest);
  std::swap(results[0], results[1]);
  EXPECT_NE(digestOf(results), digest);
}

TEST(Expected, InputsAreBellShaped) {
  double sum = 0, squares = 0;
  constexpr uint64_t count = 100000;
  for (uint64_t i = 0; i < count; ++i) {
    sum += inputOf(1, i);
    squares += double(inputOf(1, i)) * inputOf(1, i);
  }
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.02);
}

} // namespace
