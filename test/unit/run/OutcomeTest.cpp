//===-- OutcomeTest.cpp - Untrusted outcomes of ranks -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Error.h"
#include "cgx/run/OutcomeStream.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace cgx::run;

namespace {

Job job() {
  Job job;
  job.manifest.ranks = 2;
  job.manifest.mesh = {{"data", 2}};
  job.manifest.arguments = {{"w", CGX_F32, {3}, {3}, {{}}, std::nullopt}};
  job.stateArguments = {0};
  job.scalars.all = {{0, "loss"}};
  job.firstStep = 5;
  job.steps = 2;
  return job;
}

Outcome outcome() {
  Outcome outcome;
  outcome.steps = 2;
  outcome.seconds = 0.25;
  outcome.telemetry = "{\"steps\": 2}";
  outcome.scalars = {{1.5, std::numeric_limits<double>::quiet_NaN()}};
  outcome.hashes = {UINT64_MAX};
  outcome.blocks = {std::vector<std::byte>(12, std::byte(7))};
  outcome.codecState = {{"cgx.codec_state/rank0/residual", CGX_BF16, std::vector<std::byte>(6)}};
  outcome.plans = {{6, "{}"}};
  return outcome;
}

/// Returns the error of reading the bytes; "" if they are accepted.
std::string refusal(std::span<const std::byte> bytes) {
  OutcomeReader reader;
  reader.append(bytes);
  try {
    (void)reader.take(job());
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

std::string refusal(uint32_t rank, const Outcome &outcome) { return refusal(packOutcome(rank, outcome)); }

TEST(Outcome, ArrivesAsItWas) {
  OutcomeReader reader;
  reader.append(packOutcome(0, outcome()));
  auto [rank, arrived] = reader.take(job());
  EXPECT_EQ(rank, 0u);
  EXPECT_EQ(arrived.steps, 2u);
  EXPECT_EQ(arrived.scalars[0][0], 1.5);
  EXPECT_TRUE(std::isnan(arrived.scalars[0][1]));
  EXPECT_EQ(arrived.hashes, outcome().hashes);
  EXPECT_EQ(arrived.blocks, outcome().blocks);
  EXPECT_EQ(arrived.codecState[0].bytes, outcome().codecState[0].bytes);
  EXPECT_EQ(arrived.plans[0].step, 6u);
}

TEST(Outcome, OfAnotherJobIsRefused) {
  auto with = [](auto change) {
    Outcome changed = outcome();
    change(changed);
    return refusal(0, changed);
  };
  EXPECT_EQ(refusal(2, outcome()), "is of rank 2 of 2");
  EXPECT_EQ(refusal(1, outcome()), "expected 0 metrics, got 1");
  EXPECT_EQ(with([](Outcome &o) { o.hashes = {}; }), "expected 1 digests, got 0");
  EXPECT_EQ(with([](Outcome &o) { o.hashes = {1, 2}; }), "expected 1 digests, got 2");
  EXPECT_EQ(with([](Outcome &o) { o.blocks[0].resize(11); }), "expected 12 bytes in a block, got 11");
  EXPECT_EQ(with([](Outcome &o) { o.blocks.push_back({}); }), "expected 1 blocks, got 2");
  EXPECT_EQ(with([](Outcome &o) { o.scalars[0].pop_back(); }), "expected 2 values of a metric, got 1");
  EXPECT_EQ(with([](Outcome &o) {
              o.steps = 3;
              o.scalars[0].push_back(0);
            }),
            "expected at most 2 steps, got 3");
  EXPECT_EQ(with([](Outcome &o) { o.plans[0].step = 8; }), "has a plan of step 8");
  EXPECT_EQ(with([](Outcome &o) { o.codecState[0].type = ElementType(200); }),
            "has a codec tensor of type 200");
  EXPECT_EQ(with([](Outcome &o) { o.codecState[0].name = "cgx.codec_state/rank1/residual"; }),
            "has a codec tensor 'cgx.codec_state/rank1/residual' of 6 bytes");
  EXPECT_EQ(with([](Outcome &o) { o.codecState[0].bytes.resize(5); }),
            "has a codec tensor 'cgx.codec_state/rank0/residual' of 5 bytes");
  EXPECT_EQ(with([](Outcome &o) { o.blocks[0].clear(); }), "") << "another rank is the first holder";
  // A rank that failed has nothing but its error.
  Outcome failed;
  failed.error = "timeout";
  EXPECT_EQ(refusal(1, failed), "");
}

/// Returns the outcome of a rank of an elastic job in which another rank has died.
Outcome withBoundaries() {
  Outcome failed;
  failed.error = "rank 1 has left";
  for (uint64_t steps : {0, 2}) {
    Outcome &boundary = failed.boundaries.emplace_back();
    boundary.steps = steps;
    boundary.blocks = {std::vector<std::byte>(12, std::byte(steps))};
    boundary.codecState = {{"cgx.codec_state/rank0/residual", CGX_BF16, std::vector<std::byte>(6)}};
  }
  return failed;
}

TEST(Outcome, BringsBoundaries) {
  OutcomeReader reader;
  reader.append(packOutcome(0, withBoundaries()));
  const Outcome arrived = reader.take(job()).second;
  EXPECT_EQ(arrived.error, "rank 1 has left");
  ASSERT_EQ(arrived.boundaries.size(), 2u);
  EXPECT_EQ(arrived.boundaries[1].steps, 2u);
  EXPECT_EQ(arrived.boundaries[1].blocks, withBoundaries().boundaries[1].blocks);
  EXPECT_EQ(arrived.boundaries[0].codecState[0].name, "cgx.codec_state/rank0/residual");
}

TEST(Outcome, BoundariesOfAnotherJobAreRefused) {
  const auto changed = [](auto change) {
    Outcome outcome = withBoundaries();
    change(outcome.boundaries[1]);
    return refusal(0, outcome);
  };
  EXPECT_NE(changed([](Outcome &boundary) { boundary.steps = 3; }).find("at most 2 steps"),
            std::string::npos);
  EXPECT_NE(changed([](Outcome &boundary) { boundary.blocks[0].clear(); }).find("12 bytes in a block"),
            std::string::npos);
  EXPECT_NE(changed([](Outcome &boundary) { boundary.blocks.clear(); }).find("1 blocks"), std::string::npos);
  EXPECT_NE(changed([](Outcome &boundary) {
              boundary.codecState[0].name = "cgx.codec_state/rank1/residual";
            }).find("codec tensor"),
            std::string::npos);
  EXPECT_NE(changed([](Outcome &boundary) { boundary.boundaries.emplace_back(); }).find("within a boundary"),
            std::string::npos);
}

TEST(Outcome, CutAnywhereIsRefused) {
  const std::vector<std::byte> whole = packOutcome(0, outcome());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refusal(std::span(whole).first(size)), "") << size;
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte(0));
  EXPECT_EQ(refusal(longer), "has 1 bytes too many");
}

/// The JSON reader makes a float of a number with more than 64 bits.
TEST(Outcome, NumbersThatDoNotFitAreRefused) {
  const std::vector<std::byte> whole = packOutcome(0, outcome());
  const std::string text(reinterpret_cast<const char *>(whole.data()), whole.size());
  const size_t at = text.find(std::to_string(UINT64_MAX));
  ASSERT_NE(at, std::string::npos);
  std::vector<std::byte> changed = whole;
  changed[at + 16] = std::byte('9'); // 18446744073709559615, above the largest
  EXPECT_EQ(
      refusal(changed),
      "is malformed: expected a whole number from 0 to 18446744073709551615, got 1.844674407370956e+19");
}

TEST(Outcome, ThatWasTamperedWithIsRefusedOrWhole) {
  const std::vector<std::byte> whole = packOutcome(0, outcome());
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<std::byte> changed = whole;
    for (uint64_t i = 0; i <= random() % 3; ++i)
      changed[random() % changed.size()] = std::byte(random());
    (void)refusal(changed); // accepted data has the expected sizes, whatever the bytes are
  }
  // Deeply nested text does not overflow the stack.
  const std::string nested = std::string(1 << 20, '[');
  const uint64_t length = nested.size();
  std::vector<std::byte> bytes(8 + nested.size());
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, nested.data(), nested.size());
  EXPECT_NE(refusal(bytes).find("is malformed"), std::string::npos);
}

} // namespace
