//===-- RandomTest.cpp - Random numbers look random and repeat ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/arithmetic/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace cgx::test {
namespace {

/// The tests draw the first 2^18 halves of a few keys, as fractions of 1.
constexpr uint64_t count = 1 << 18;
const RandomKey keys[] = {makeRandomKey(0, 0, 0, 0, 0), makeRandomKey(0, 1, 0, 0, 0),
                          makeRandomKey(1, 0, 3, 2, 1)};

std::vector<double> fractions(RandomKey key) {
  std::vector<double> values(count);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = (randomHalf(key, i) + 0.5) / 65536;
  return values;
}

TEST(RandomTest, HasTheMeanAndVarianceOfUniform) {
  for (RandomKey key : keys) {
    double sum = 0, squares = 0;
    for (double x : fractions(key)) {
      sum += x;
      squares += (x - 0.5) * (x - 0.5);
    }
    EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
    EXPECT_NEAR(squares / count, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / count));
  }
}

TEST(RandomTest, HasNoCorrelationBetweenElements) {
  // 16 is the lag between the two halves of a word, 32 that between rows.
  for (RandomKey key : keys) {
    const std::vector<double> x = fractions(key);
    for (uint64_t lag : {1u, 2u, 15u, 16u, 17u, 32u, 64u, 128u, 512u, 4096u, 65536u}) {
      double sum = 0;
      for (uint64_t i = lag; i < count; ++i)
        sum += (x[i] - 0.5) * (x[i - lag] - 0.5) * 12;
      EXPECT_NEAR(sum / double(count - lag), 0.0, 5 / std::sqrt(double(count - lag))) << "lag " << lag;
    }
  }
}

TEST(RandomTest, BalancesEveryBitAndPairOfBits) {
  for (RandomKey key : keys) {
    std::array<int64_t, 16> ones = {};
    std::array<std::array<int64_t, 16>, 16> equal = {};
    for (uint64_t i = 0; i < count; ++i) {
      const uint16_t half = randomHalf(key, i);
      for (int a = 0; a < 16; ++a) {
        ones[a] += half >> a & 1;
        for (int b = 0; b < a; ++b)
          equal[a][b] += (half >> a & 1) == (half >> b & 1);
      }
    }
    const double bound = 5 * 0.5 * std::sqrt(double(count));
    for (int a = 0; a < 16; ++a) {
      EXPECT_NEAR(double(ones[a]), count / 2.0, bound) << "bit " << a;
      for (int b = 0; b < a; ++b)
        EXPECT_NEAR(double(equal[a][b]), count / 2.0, bound) << "bits " << a << " and " << b;
    }
  }
}

TEST(RandomTest, FillsItsValuesEvenly) {
  // These are chi-square tests over 4096 values, and over pairs of the top six bits of neighbours.
  for (RandomKey key : keys) {
    std::vector<double> values(4096), pairs(4096);
    for (uint64_t i = 0; i + 1 < count; ++i) {
      ++values[randomHalf(key, i) >> 4];
      ++pairs[(randomHalf(key, i) >> 10) * 64 + (randomHalf(key, i + 1) >> 10)];
    }
    for (const std::vector<double> &cells : {values, pairs}) {
      double chiSquare = 0;
      const double expected = double(count - 1) / 4096;
      for (double cell : cells)
        chiSquare += (cell - expected) * (cell - expected) / expected;
      EXPECT_NEAR(chiSquare, 4095, 5 * std::sqrt(2.0 * 4095));
    }
  }
}

TEST(RandomTest, KeysThatDifferInOnePlaceAreUnrelated) {
  const std::vector<double> x = fractions(makeRandomKey(7, 7, 7, 7, 0));
  for (RandomKey other :
       {makeRandomKey(8, 7, 7, 7, 0), makeRandomKey(7, 8, 7, 7, 0), makeRandomKey(7, 7, 8, 7, 0),
        makeRandomKey(7, 7, 7, 8, 0), makeRandomKey(7, 7, 7, 7, 1)}) {
    const std::vector<double> y = fractions(other);
    double sum = 0;
    for (uint64_t i = 0; i < count; ++i)
      sum += (x[i] - 0.5) * (y[i] - 0.5) * 12;
    EXPECT_NEAR(sum / double(count), 0.0, 5 / std::sqrt(double(count)));
  }
}

TEST(RandomTest, NeighbouringKeysDoNotCollide) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 4; ++seed)
    for (uint64_t step = 0; step < 16; ++step)
      for (uint64_t layer = 0; layer < 16; ++layer)
        for (uint64_t rank = 0; rank < 8; ++rank)
          for (uint64_t phase = 0; phase < 2; ++phase)
            seen.insert(makeRandomKey(seed, step, layer, rank, phase).value);
  EXPECT_EQ(seen.size(), 4u * 16 * 16 * 8 * 2);
}

TEST(RandomTest, StreamsChangeAfterTwoToTheThirtyTwoWords) {
  const RandomKey key = keys[2];
  int equal = 0;
  for (uint64_t i = 0; i < 4096; ++i)
    equal += randomHalf(key, i) == randomHalf(key, i + (1ull << 37));
  EXPECT_LE(equal, 4);
}

TEST(RandomTest, IsThatOfTheFormat) {
  // Payloads are compared between machines and versions: these values never change.
  const RandomKey key = makeRandomKey(1, 2, 3, 4, 5);
  EXPECT_EQ(key.value, 0x141ea6a5b8259323ull);
  EXPECT_EQ(randomHalf(key, 0), 0xa80f);
  EXPECT_EQ(randomHalf(key, 16), 0x2eb7);
  EXPECT_EQ(randomHalf(key, (1ull << 40) + 5), 0x9f42);
}

} // namespace
} // namespace cgx::test
