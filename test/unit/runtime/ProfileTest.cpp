//===-- ProfileTest.cpp - Profiles and plans between steps -*- C++ -*-===//
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
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <mutex>
#include <random>

namespace cgx::test {
namespace {

constexpr uint32_t kRanks = 3;
constexpr uint64_t kElements = 5000;

/// The id of a collective of two compressed layers and one that the compiler left uncompressed. The
/// collective before it has only uncompressed layers.
constexpr int64_t kCollective = 1;
std::string program() {
  return manifestText(kRanks,
                      {collectiveJson(0, "all_reduce", everybody(kRanks), {{.shape = {1}, .layer = "loss"}},
                                      {{"reduction", "mean"}}),
                       collectiveJson(kCollective, "all_reduce", everybody(kRanks),
                                      {{.shape = {kElements}, .codec = quantize(4, 128), .layer = "large"},
                                       {.shape = {kElements}, .codec = quantize(4, 128), .layer = "small"},
                                       {.shape = {10}, .layer = "bias"}},
                                      {{"reduction", "mean"}})});
}

/// A rank that runs steps on gradients of very different sizes.
class Rank {
public:
  Rank(const std::string &transport, const std::string &job, uint32_t rank) : rank(rank) {
    ContextSpec spec{
        .transport = transport, .job = job, .rank = rank, .ranks = kRanks, .manifest = program()};
    status = spec.create(context);
  }

  std::vector<float> gradient(uint64_t step, bool isLarge) const {
    std::mt19937 random(uint32_t(1000 * step + 10 * rank + isLarge));
    std::vector<float> values(kElements);
    for (float &value : values)
      value = float(std::normal_distribution<double>(0, isLarge ? 1 : 1e-3)(random));
    return values;
  }

  cgx_status step(uint64_t number, float poison = 0) {
    std::vector<float> large = gradient(number, true), small = gradient(number, false), bias(10, 1.0f);
    small[7] += poison;
    if (cgx_status begun = cgx_context_begin_step(context.get(), number); begun != CGX_OK)
      return begun;
    std::vector<float> *buffers[] = {&large, &small, &bias};
    for (int64_t i = 0; i < 3; ++i)
      cgx_rt_operand(address(context.get()), kCollective, i, address(buffers[i]->data()),
                     address(buffers[i]->data()));
    cgx_rt_run(address(context.get()), kCollective);
    return cgx_context_end_step(context.get());
  }

  Json telemetry() const {
    const char *text = nullptr;
    EXPECT_EQ(cgx_context_telemetry(context.get(), &text), CGX_OK);
    return Json::parse(text);
  }

  uint32_t rank;
  ContextPtr context;
  cgx_status status;
};

/// The answers of all ranks, by rank.
class Answers {
public:
  void add(uint32_t rank, const std::string &text) {
    std::lock_guard lock(mutex);
    texts[rank] = text;
  }
  std::string same() const {
    for (const std::string &text : texts)
      EXPECT_EQ(text, texts[0]);
    return texts[0];
  }
  std::vector<std::string> texts = std::vector<std::string>(kRanks);

private:
  std::mutex mutex;
};

Json findLayer(const Json &document, const std::string &name) {
  for (const Json &layer : document.at("layers"))
    if (layer.at("layer") == name)
      return layer;
  ADD_FAILURE() << "no layer " << name;
  return {};
}

TEST(Profile, IsTheSameOnAllRanksAndOfTheMeanGradient) {
  std::string job = uniqueJob();
  Answers answers;
  std::vector<double> norms(kRanks);
  runThreads(kRanks, [&](uint32_t rank) {
    Rank self("inproc", job, rank);
    ASSERT_EQ(self.status, CGX_OK) << cgx_last_error();
    ASSERT_EQ(self.step(0), CGX_OK);
    ASSERT_EQ(cgx_context_begin_profile(self.context.get(), nullptr), CGX_OK) << cgx_last_error();
    std::vector<double> sum(kElements);
    for (uint64_t step = 1; step < 4; ++step) {
      ASSERT_EQ(self.step(step), CGX_OK);
      std::vector<float> gradient = self.gradient(step, true);
      for (size_t i = 0; i < kElements; ++i)
        sum[i] += double(gradient[i]) / 3;
    }
    for (double value : sum)
      norms[rank] += value * value;
    norms[rank] = std::sqrt(norms[rank]);
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_end_profile(self.context.get(), &text), CGX_OK) << cgx_last_error();
    answers.add(rank, text);
    // The traffic of the profile's own exchange is not counted as the program's.
    Json telemetry = self.telemetry();
    EXPECT_EQ(telemetry["wire_bytes"], telemetry["transport_bytes"]);
  });
  Json profile = Json::parse(answers.same());
  EXPECT_EQ(profile["first_step"], 1);
  EXPECT_EQ(profile["steps"], 3);
  EXPECT_GT(profile["step_seconds"], 0.0);
  EXPECT_GT(profile["profiling_seconds"], 0.0);
  ASSERT_EQ(profile["layers"].size(), 2u) << "a layer that the compiler left exact is not profiled";
  Json large = findLayer(profile, "large"), small = findLayer(profile, "small");
  EXPECT_NEAR(large["gradient_norm"].get<double>(), (norms[0] + norms[1] + norms[2]) / kRanks, 1e-4);
  EXPECT_EQ(large["collective"], kCollective);
  EXPECT_EQ(small["collective"], kCollective);
  EXPECT_EQ(large["candidates"][0]["codec"]["family"], "identity");
  EXPECT_EQ(large["candidates"][0]["squared_error"], 0.0);
  std::map<int, double> byBits;
  for (const Json &candidate : large["candidates"])
    if (candidate["codec"].value("bucket", 0) == 128)
      byBits[candidate["codec"]["bits"]] = candidate["squared_error"];
  ASSERT_EQ(byBits.size(), 7u);
  for (int bits = 2; bits < 8; ++bits) { // each bit divides the squared error by about four
    EXPECT_LT(byBits[bits + 1], byBits[bits] / 3);
    EXPECT_GT(byBits[bits + 1], byBits[bits] / 12);
  }
  for (size_t i = 1; i < large["candidates"].size(); ++i)
    EXPECT_GT(large["candidates"][i]["squared_error"].get<double>(),
              1e5 * small["candidates"][i]["squared_error"].get<double>());
}

TEST(Profile, AdaptsAllRanksAtTheSameStep) {
  for (const char *transport : {"inproc", "shm"}) {
    std::string job = uniqueJob();
    Answers first, second;
    std::vector<double> sent(kRanks);
    runThreads(kRanks, [&](uint32_t rank) {
      Rank self(transport, job, rank);
      ASSERT_EQ(self.status, CGX_OK) << cgx_last_error();
      uint64_t step = 0;
      for (Answers *answers : {&first, &second}) {
        ASSERT_EQ(cgx_context_begin_profile(self.context.get(), nullptr), CGX_OK);
        for (int i = 0; i < 2; ++i)
          ASSERT_EQ(self.step(step++), CGX_OK);
        const char *plan = nullptr;
        ASSERT_EQ(cgx_context_adapt(self.context.get(), R"({"solver": "exact"})", &plan), CGX_OK)
            << cgx_last_error();
        answers->add(rank, plan);
      }
      double before = self.telemetry()["wire_bytes"];
      ASSERT_EQ(self.step(step), CGX_OK);
      Json telemetry = self.telemetry();
      sent[rank] = telemetry["wire_bytes"].get<double>() - before;
      EXPECT_EQ(telemetry["wire_bytes"], telemetry["transport_bytes"]);
    });
    first.same();
    Json plan = Json::parse(second.same());
    // A layer with a thousandth of the gradient may lose all bits but two.
    EXPECT_EQ(findLayer(plan, "small")["codec"]["bits"], 2);
    EXPECT_GE(findLayer(plan, "large")["codec"]["bits"], 4);
    EXPECT_LT(plan["planned"]["wire_bytes"], plan["of_reference"]["wire_bytes"]);
    // The bytes are those that the plan promises, plus the bias that it does not know: 10 f32, over three
    // ranks.
    EXPECT_EQ(sent[0] + sent[1] + sent[2], plan["planned"]["wire_bytes"].get<double>() + 2 * 2 * 40);
  }
}

TEST(Profile, LeavesALayerExactWhoseGradientIsNotFinite) {
  std::string job = uniqueJob();
  Answers answers;
  runThreads(kRanks, [&](uint32_t rank) {
    Rank self("inproc", job, rank);
    ASSERT_EQ(cgx_context_begin_profile(self.context.get(), nullptr), CGX_OK);
    // Only one rank sees the NaN.
    ASSERT_EQ(self.step(0, rank == 1 ? std::numeric_limits<float>::quiet_NaN() : 0.0f), CGX_OK);
    const char *plan = nullptr;
    ASSERT_EQ(cgx_context_adapt(self.context.get(), nullptr, &plan), CGX_OK) << cgx_last_error();
    answers.add(rank, plan);
  });
  Json plan = Json::parse(answers.same());
  EXPECT_EQ(findLayer(plan, "small")["codec"]["family"], "identity");
  EXPECT_EQ(findLayer(plan, "large")["codec"]["family"], "quantize");
}

/// Returns a plan for `program()` with one codec for all layers.
std::string planOf(int bits, uint64_t elements = kElements, const std::string &last = "small") {
  Json layers = Json::array();
  for (const std::string &name : {std::string("large"), last})
    layers.push_back({{"layer", name},
                      {"kind", "gradient"},
                      {"dtype", "f32"},
                      {"elements", elements},
                      {"codec", cgx::writeCodec(quantize(uint32_t(bits), 128))},
                      {"squared_error", 0},
                      {"wire_bytes", 1},
                      {"raw_bytes", 1}});
  Json cost = {{"squared_error", 0}, {"wire_bytes", 1}, {"seconds", 0}};
  return Json{{"cgx_plan", 1},
              {"program", "0123"},
              {"solver", "uniform"},
              {"proven", false},
              {"objective", "bytes"},
              {"alpha", 1},
              {"planned", cost},
              {"of_reference", cost},
              {"squared_error_bound", 1},
              {"layers", layers},
              {"reference", {{"family", "identity"}}}}
      .dump();
}

TEST(Plan, ChangesTheCodecsOfLaterSteps) {
  std::string job = uniqueJob();
  runThreads(kRanks, [&](uint32_t rank) {
    Rank self("inproc", job, rank);
    ASSERT_EQ(self.step(0), CGX_OK);
    double atFour = self.telemetry()["wire_bytes"];
    ASSERT_EQ(cgx_context_adopt_plan(self.context.get(), planOf(8).c_str()), CGX_OK) << cgx_last_error();
    ASSERT_EQ(self.step(1), CGX_OK);
    double atEight = self.telemetry()["wire_bytes"].get<double>() - atFour;
    EXPECT_NEAR(atEight / atFour, 8.25 / 4.25, 0.05);
  });
}

TEST(Plan, ThatDiffersBetweenRanksIsRefusedOnAll) {
  std::string job = uniqueJob();
  runThreads(kRanks, [&](uint32_t rank) {
    Rank self("inproc", job, rank);
    ASSERT_EQ(self.step(0), CGX_OK);
    EXPECT_EQ(cgx_context_adopt_plan(self.context.get(), planOf(rank == 2 ? 5 : 4).c_str()), CGX_MISMATCH);
    EXPECT_STREQ(cgx_last_error(), "rank 2 adopts another plan than rank 0");
  });
}

TEST(Plan, ThatDoesNotFitIsRefusedWithTheDifference) {
  struct Case {
    std::string plan, message;
  };
  for (const Case &test :
       {Case{planOf(4, 4000), "the plan's layer 'large' has 4000 elements of f32, the program's 5000 of f32"},
        Case{planOf(4, kElements, "tiny"),
             "the plan has layer 'tiny' (gradient), which the program does not compress"},
        Case{
            "{}",
            "expected 'cgx_plan' of version 1, as cgx-plan solve writes it: this is another kind of file"}}) {
    std::string job = uniqueJob();
    runThreads(kRanks, [&](uint32_t rank) {
      Rank self("inproc", job, rank);
      EXPECT_EQ(cgx_context_adopt_plan(self.context.get(), test.plan.c_str()), CGX_INVALID_ARGUMENT);
      EXPECT_EQ(cgx_last_error(), test.message);
      EXPECT_EQ(self.step(0), CGX_OK) << "a plan that is refused changes nothing";
    });
  }
}

TEST(Plan, ThatCannotBeMadeFailsOnAllRanksWithItsReason) {
  std::string job = uniqueJob();
  runThreads(kRanks, [&](uint32_t rank) {
    Rank self("inproc", job, rank);
    ASSERT_EQ(cgx_context_begin_profile(self.context.get(), nullptr), CGX_OK);
    ASSERT_EQ(self.step(0), CGX_OK);
    const char *plan = nullptr;
    EXPECT_EQ(cgx_context_adapt(self.context.get(), R"({"reference": "quantize bits=1 bucket=7"})", &plan),
              CGX_INVALID_ARGUMENT);
    EXPECT_STREQ(cgx_last_error(), "rank 0 found no plan: the reference quantize bits=1 bucket=7 "
                                   "rounding=stochastic scale=bf16 is no candidate of any layer");
  });
}

TEST(Profile, IsRefusedOutOfPlace) {
  std::string job = uniqueJob();
  runThreads(kRanks, [&](uint32_t rank) {
    Rank self("inproc", job, rank);
    cgx_context *context = self.context.get();
    EXPECT_EQ(cgx_context_begin_profile(context, R"({"candidates": ["quantize bits=9"]})"),
              CGX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cgx_last_error()).find("candidate 'quantize bits=9'"), std::string::npos);
    ASSERT_EQ(cgx_context_begin_profile(context, nullptr), CGX_OK);
    EXPECT_EQ(cgx_context_begin_profile(context, nullptr), CGX_INVALID_ARGUMENT);
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    const char *text = nullptr;
    EXPECT_EQ(cgx_context_end_profile(context, &text), CGX_INVALID_ARGUMENT);
    EXPECT_EQ(cgx_context_end_profile(nullptr, &text), CGX_INVALID_ARGUMENT);
  });
}

} // namespace
} // namespace cgx::test
