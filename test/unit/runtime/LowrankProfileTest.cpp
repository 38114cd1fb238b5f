//===-- LowrankProfileTest.cpp - Ranks measured, and chosen between steps -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"
#include "cgx/formats/CodecJson.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace cgx::test {
namespace {

constexpr uint32_t kRanks = 3;
constexpr uint64_t kRows = 40, kColumns = 30;
constexpr const char *kCandidates =
    R"({"candidates": ["lowrank rank=1..8", "quantize bits=4 bucket=512", "quantize bits=8 bucket=512"]})";

/// A rank with two matrices: "flat" is noise in all directions, "steep" has two directions and little else.
struct LowrankRank {
  LowrankRank(const std::string &job, uint32_t rank, const Json &codec, bool isOpen = false) : rank(rank) {
    Json collective = collectiveJson(
        0, "all_reduce", everybody(kRanks),
        {{.shape = {kRows, kColumns}, .layer = "flat"}, {.shape = {kRows, kColumns}, .layer = "steep"}},
        {{"reduction", "mean"}});
    for (Json &operand : collective["operands"]) {
      operand["codec"] = codec;
      operand["may_be_compressed"] = isOpen;
    }
    manifest = manifestText(kRanks, {collective});
    status = ContextSpec{.job = job, .rank = rank, .ranks = kRanks, .manifest = manifest}.create(context);
  }

  static std::vector<float> normal(uint64_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> distribution;
    std::vector<float> values(count);
    for (float &value : values)
      value = distribution(random);
    return values;
  }

  std::vector<float> gradient(uint64_t step, bool isSteep) const {
    std::vector<float> values = normal(kRows * kColumns, 100 * step + 10 * rank + isSteep);
    if (!isSteep)
      return values;
    std::vector<float> left = normal(2 * kRows, 7), right = normal(2 * kColumns, 8);
    for (uint64_t i = 0; i < values.size(); ++i)
      values[i] = 0.01f * values[i] + left[i / kColumns] * right[i % kColumns] +
                  left[kRows + i / kColumns] * right[kColumns + i % kColumns];
    return values;
  }

  void step(uint64_t number) {
    std::vector<float> flat = gradient(number, false), steep = gradient(number, true);
    ASSERT_EQ(cgx_context_begin_step(context.get(), number), CGX_OK) << cgx_last_error();
    cgx_rt_operand(address(context.get()), 0, 0, address(flat.data()), address(flat.data()));
    cgx_rt_operand(address(context.get()), 0, 1, address(steep.data()), address(steep.data()));
    cgx_rt_run(address(context.get()), 0);
    ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
    result = steep;
  }

  uint64_t states() const {
    uint64_t count = 0;
    EXPECT_EQ(cgx_context_state_count(context.get(), &count), CGX_OK);
    return count;
  }

  uint32_t rank;
  std::string manifest;
  ContextPtr context;
  cgx_status status;
  std::vector<float> result; ///< the steep matrix in the last step
};

const Json kLowrank = {{"family", "lowrank"}, {"rank", 4}};
const Json kLowrankWithFeedback = {
    {"family", "lowrank"}, {"rank", 4}, {"error_feedback", "f32"}, {"decay", 1.0}};

Json candidatesOf(const Json &document, const std::string &layer) {
  for (const Json &entry : document.at("layers"))
    if (entry.at("layer") == layer)
      return entry.at("candidates");
  return {};
}

TEST(LowrankProfile, FindsWhatEachRankLoses) {
  std::string job = uniqueJob(), texts[kRanks];
  runThreads(kRanks, [&](uint32_t rank) {
    LowrankRank self(job, rank, kLowrank);
    ASSERT_EQ(self.status, CGX_OK) << cgx_last_error();
    ASSERT_EQ(cgx_context_begin_profile(self.context.get(), kCandidates), CGX_OK) << cgx_last_error();
    self.step(0);
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_end_profile(self.context.get(), &text), CGX_OK) << cgx_last_error();
    texts[rank] = text;
  });
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
  Json profile = Json::parse(texts[0]);
  for (const char *layer : {"flat", "steep"}) {
    double last = std::numeric_limits<double>::infinity();
    int ranks = 0;
    for (const Json &candidate : candidatesOf(profile, layer))
      if (candidate["codec"]["family"] == "lowrank") {
        int rank = candidate["codec"]["rank"];
        double error = candidate["squared_error"];
        EXPECT_EQ(rank, ++ranks);
        EXPECT_LT(error, last);
        // All ranks together send two thirds of the factors from each rank, twice.
        EXPECT_EQ(candidate["wire_bytes"], rank * (kRows + kColumns) * 4 * 2 * (kRanks - 1));
        last = error;
        if (std::string(layer) == "steep" && rank == 2) {
          EXPECT_NEAR(error, kRows * kColumns * 1e-4, 0.3 * kRows * kColumns * 1e-4); // the noise
        }
      }
    EXPECT_EQ(ranks, 8);
  }
  // No direction of the flat matrix has much more than its share of the norm.
  double norm = kRows * kColumns;
  EXPECT_NEAR(candidatesOf(profile, "flat")[8]["squared_error"].get<double>(), 0.55 * norm, 0.2 * norm);
}

TEST(LowrankProfile, PlansGiveEachLayerItsRank) {
  for (const Json &codec : {kLowrankWithFeedback, kLowrank}) {
    std::string job = uniqueJob(), texts[kRanks];
    std::vector<float> results[kRanks];
    runThreads(kRanks, [&](uint32_t rank) {
      LowrankRank self(job, rank, codec);
      uint64_t states = self.states();
      ASSERT_EQ(cgx_context_begin_profile(self.context.get(), kCandidates), CGX_OK) << cgx_last_error();
      for (uint64_t step = 0; step < 4; ++step)
        self.step(step);
      const char *plan = nullptr;
      ASSERT_EQ(cgx_context_adapt(self.context.get(),
                                  R"({"solver": "lgreco", "reference": "lowrank rank=4"})", &plan),
                CGX_OK)
          << cgx_last_error();
      texts[rank] = plan;
      for (uint64_t step = 4; step < 8; ++step)
        self.step(step);
      EXPECT_EQ(self.states(), states);
      results[rank] = self.result;
    });
    for (uint32_t rank = 1; rank < kRanks; ++rank) {
      EXPECT_EQ(texts[rank], texts[0]);
      EXPECT_EQ(results[rank], results[0]);
    }
    Json plan = Json::parse(texts[0]);
    for (const Json &layer : plan["layers"])
      if (layer["layer"] == "steep") {
        EXPECT_EQ(layer["codec"]["family"], "lowrank");
        EXPECT_LE(layer["codec"]["rank"], 2);
      }
  }
}

TEST(LowrankProfile, OpenOperandsHaveRoomForFactors) {
  std::string job = uniqueJob();
  runThreads(kRanks, [&](uint32_t rank) {
    LowrankRank self(job, rank, {{"family", "identity"}}, /*isOpen=*/true);
    ASSERT_EQ(self.status, CGX_OK) << cgx_last_error();
    ASSERT_EQ(cgx_context_begin_profile(self.context.get(), kCandidates), CGX_OK) << cgx_last_error();
    self.step(0);
    const char *plan = nullptr;
    ASSERT_EQ(
        cgx_context_adapt(self.context.get(), R"({"solver": "exact", "reference": "lowrank rank=8"})", &plan),
        CGX_OK)
        << cgx_last_error();
    EXPECT_NE(std::string(plan).find("lowrank"), std::string::npos);
    self.step(1);
  });
}

TEST(LowrankProfile, SaysThatAProgramHasNoRoomForFactors) {
  std::string job = uniqueJob();
  runThreads(kRanks, [&](uint32_t rank) {
    LowrankRank self(job, rank, writeCodec(quantize(4, 128)));
    EXPECT_EQ(cgx_context_begin_profile(self.context.get(), kCandidates), CGX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cgx_last_error()).find("that was compiled with it or with --cgx-instrument"),
              std::string::npos)
        << cgx_last_error();
  });
}

// A plan whose codec has longer buckets moves the ends of chunks, and with them the residuals of results.
TEST(LowrankProfile, LongerBucketsKeepWhatResidualsThereAre) {
  std::string job = uniqueJob();
  std::vector<float> results[kRanks];
  runThreads(kRanks, [&](uint32_t rank) {
    LowrankRank self(job, rank, kLowrankWithFeedback);
    ASSERT_EQ(
        cgx_context_begin_profile(self.context.get(), R"({"candidates": ["quantize bits=4 bucket=512"]})"),
        CGX_OK);
    self.step(0);
    const char *plan = nullptr;
    ASSERT_EQ(cgx_context_adapt(self.context.get(),
                                R"({"solver": "uniform", "reference": "quantize bits=4 bucket=512"})", &plan),
              CGX_OK)
        << cgx_last_error();
    for (uint64_t step = 1; step < 4; ++step)
      self.step(step);
    results[rank] = self.result;
  });
  for (uint32_t rank = 1; rank < kRanks; ++rank)
    EXPECT_EQ(results[rank], results[0]);
}

} // namespace
} // namespace cgx::test
