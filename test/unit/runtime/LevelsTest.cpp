//===-- LevelsTest.cpp - Levels that are learned while a program runs -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"
#include "cgx/arithmetic/elements.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace cgx::test {
namespace {

constexpr uint64_t kElements = 6000;
constexpr const char *kLearn = R"({"levels": {"steps": [0], "kinds": ["gradient"]}})";

/// A job of one all-reduce, whose ranks run steps and keep the results of the last.
struct Levels {
  uint32_t ranks = 2;
  cgx_element_type type = CGX_F32;
  cgx_codec codec = quantize(3, 512, CGX_ROUND_NEAREST);
  std::string job = uniqueJob();

  ContextPtr create(uint32_t rank) const {
    const std::string program = manifestText(
        ranks, {collectiveJson(0, "all_reduce", everybody(ranks),
                               {{.type = type, .shape = {kElements}, .codec = codec, .layer = "w"}},
                               {{"reduction", "mean"}})});
    ContextSpec spec{.transport = "inproc", .job = job, .rank = rank, .ranks = ranks, .manifest = program};
    ContextPtr context;
    EXPECT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    return context;
  }

  /// Returns a bell-shaped gradient, for which evenly spaced levels waste the ends of the range.
  std::vector<uint8_t> gradient(uint64_t step, uint32_t rank) const {
    std::mt19937 random(uint32_t(1000 * step + rank));
    std::normal_distribution<float> normal;
    std::vector<uint8_t> bytes(kElements * cgx_element_bytes(type));
    for (uint64_t i = 0; i < kElements; ++i)
      storeElement(type, bytes.data(), i, normal(random));
    return bytes;
  }

  std::vector<uint8_t> step(cgx_context *context, uint64_t number, uint32_t rank, float poison = 0) const {
    std::vector<uint8_t> buffer = gradient(number, rank);
    if (poison != 0)
      storeElement(type, buffer.data(), 7, poison);
    EXPECT_EQ(cgx_context_begin_step(context, number), CGX_OK);
    cgx_rt_operand(address(context), 0, 0, address(buffer.data()), address(buffer.data()));
    cgx_rt_run(address(context), 0);
    EXPECT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    return buffer;
  }

  /// Returns the squared error of a step's result.
  double errorOf(const std::vector<uint8_t> &result, uint64_t number) const {
    std::vector<double> mean(kElements);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const std::vector<uint8_t> own = gradient(number, rank);
      for (uint64_t i = 0; i < kElements; ++i)
        mean[i] += double(loadElement(sourceOf(type), own.data(), i)) / ranks;
    }
    double error = 0;
    for (uint64_t i = 0; i < kElements; ++i)
      error += std::pow(mean[i] - double(loadElement(sourceOf(type), result.data(), i)), 2);
    return error;
  }
};

std::string learn(cgx_context *context) {
  const char *plan = nullptr;
  EXPECT_EQ(cgx_context_adapt(context, nullptr, &plan), CGX_OK) << cgx_last_error();
  return plan ? plan : "";
}

TEST(Levels, LearnedOnTheRunLoseLessAndAreTheSameOnAllRanks) {
  for (cgx_element_type type : {CGX_F32, CGX_BF16, CGX_F16})
    for (cgx_rounding rounding : {CGX_ROUND_NEAREST, CGX_ROUND_STOCHASTIC})
      for (uint32_t ranks : {1u, 2u, 3u, 5u, 8u}) {
        const Levels even{.ranks = ranks, .type = type, .codec = quantize(3, 512, rounding)};
        const Levels learned{.ranks = ranks, .type = type, .codec = even.codec};
        std::vector<std::string> plans(ranks);
        std::vector<std::vector<uint8_t>> results(ranks), evenResults(ranks), adopted(ranks);
        runThreads(ranks, [&](uint32_t rank) {
          ContextPtr own = even.create(rank);
          evenResults[rank] = even.step(own.get(), 1, rank);
        });
        runThreads(ranks, [&](uint32_t rank) {
          ContextPtr own = learned.create(rank);
          ASSERT_EQ(cgx_context_begin_profile(own.get(), kLearn), CGX_OK) << cgx_last_error();
          learned.step(own.get(), 0, rank);
          plans[rank] = learn(own.get());
          results[rank] = learned.step(own.get(), 1, rank);
        });
        // The levels of a plan completely define the codec's levels.
        const Levels other{.ranks = ranks, .type = type, .codec = even.codec};
        runThreads(ranks, [&](uint32_t rank) {
          ContextPtr own = other.create(rank);
          ASSERT_EQ(cgx_context_adopt_plan(own.get(), plans[rank].c_str()), CGX_OK) << cgx_last_error();
          adopted[rank] = other.step(own.get(), 1, rank);
        });
        for (uint32_t rank = 0; rank < ranks; ++rank) {
          EXPECT_EQ(plans[rank], plans[0]);
          EXPECT_EQ(results[rank], results[0]);
          EXPECT_EQ(adopted[rank], results[0]);
        }
        const Json plan = Json::parse(plans[0]), layer = plan["layers"][0];
        EXPECT_EQ(plan["objective"], "bytes");
        EXPECT_EQ(plan["layers"].size(), 1u);
        EXPECT_EQ(layer["codec"]["levels"], "learned");
        ASSERT_EQ(layer["levels"].size(), 8u);
        EXPECT_LT(plan["planned"]["squared_error"], plan["of_reference"]["squared_error"]);
        if (ranks == 1)
          continue; // nothing is encoded
        EXPECT_LT(learned.errorOf(results[0], 1), 0.95 * even.errorOf(evenResults[0], 1))
            << ranks << " ranks, type " << type << ", rounding " << rounding;
      }
}

/// With a single rank, the error is the one for which the plan chose the levels.
TEST(Levels, MakeTheErrorThatTheirPlanExpects) {
  const Levels job{.ranks = 2, .codec = quantize(4, 256, CGX_ROUND_NEAREST, CGX_SCALE_F32)};
  std::vector<double> errors(2);
  Json plan;
  runThreads(2, [&](uint32_t rank) {
    ContextPtr own = job.create(rank);
    ASSERT_EQ(cgx_context_begin_profile(own.get(), kLearn), CGX_OK) << cgx_last_error();
    job.step(own.get(), 0, rank);
    const std::string text = learn(own.get());
    errors[rank] = job.errorOf(job.step(own.get(), 0, rank), 0);
    if (rank == 0)
      plan = Json::parse(text);
  });
  // The mean of two has a quarter of the error of both. Encoding the mean adds as much, because its range is
  // smaller by the square root of two.
  const double expected = plan["planned"]["squared_error"].get<double>() / 4;
  EXPECT_GT(errors[0], expected);
  EXPECT_LT(errors[0], 3 * expected);
}

TEST(Levels, AreLearnedOfWhatIsFinite) {
  const Levels job;
  std::vector<std::string> plans(2);
  runThreads(2, [&](uint32_t rank) {
    ContextPtr own = job.create(rank);
    ASSERT_EQ(cgx_context_begin_profile(own.get(), kLearn), CGX_OK) << cgx_last_error();
    job.step(own.get(), 0, rank, rank == 1 ? std::numeric_limits<float>::quiet_NaN() : 0.0f);
    plans[rank] = learn(own.get());
    job.step(own.get(), 1, rank);
  });
  EXPECT_EQ(plans[0], plans[1]);
  EXPECT_GT(Json::parse(plans[0])["planned"]["squared_error"].get<double>(), 0.0);
}

TEST(Levels, TakeOtherBitsAndAreLearnedAgain) {
  const Levels job;
  std::vector<std::string> first(2), second(2);
  runThreads(2, [&](uint32_t rank) {
    ContextPtr own = job.create(rank);
    ASSERT_EQ(cgx_context_begin_profile(own.get(), R"({"levels": {"steps": [0, 2], "codec": {"bits": 2}}})"),
              CGX_OK)
        << cgx_last_error();
    job.step(own.get(), 0, rank);
    first[rank] = learn(own.get());
    job.step(own.get(), 1, rank);
    job.step(own.get(), 2, rank);
    second[rank] = learn(own.get());
    job.step(own.get(), 3, rank);
    const char *none = nullptr;
    EXPECT_EQ(cgx_context_adapt(own.get(), nullptr, &none), CGX_INVALID_ARGUMENT) << "nothing was learned";
  });
  EXPECT_EQ(Json::parse(first[0])["layers"][0]["codec"]["bits"], 2);
  EXPECT_EQ(Json::parse(first[0])["layers"][0]["levels"].size(), 4u);
  EXPECT_NE(Json::parse(first[0])["layers"][0]["levels"], Json::parse(second[0])["layers"][0]["levels"]);
}

TEST(Levels, ThatCannotBeAreRefusedBeforeTheFirstStep) {
  struct Case {
    cgx_codec codec;
    const char *options, *message;
  };
  const cgx_codec topk = {.family = CGX_CODEC_TOPK, .density = 0.1f};
  cgx_codec rotated = quantize(4, 1024);
  rotated.rotate = CGX_ROTATE_HADAMARD;
  for (const Case &test :
       {Case{topk, kLearn, "only quantize has levels to learn"},
        Case{quantize(4, 128),
             R"({"levels": {"steps": [0], "codec": {"rounding": "random_shift", "scale": "f32"}}})",
             "(rounding=nearest, or stochastic)"},
        Case{rotated, kLearn, "levels are learned of elements that are not rotated"},
        Case{{}, kLearn, "no layer of kind gradient"},
        Case{quantize(4, 128), R"({"levels": {"steps": [0], "kinds": ["weight"]}})",
             "no layer of kind weight"},
        Case{quantize(4, 128), R"({"levels": {"steps": [0], "codec": {"bits": 9}}})",
             "expected a number in 1..8 as 'bits', got 9"},
        Case{quantize(4, 128), R"({"levels": {"steps": [0], "codec": {"family": "sign"}}})",
             "layer 'w' (gradient)"},
        Case{quantize(4, 128), R"({"levels": {"steps": []}})", "expected steps to learn them at"},
        Case{quantize(4, 128), R"({"levels": {"step": 4}})", "expected steps, kinds or codec, got 'step'"}}) {
    const Levels job{.ranks = 1, .codec = test.codec};
    ContextPtr own = job.create(0);
    EXPECT_EQ(cgx_context_begin_profile(own.get(), test.options), CGX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cgx_last_error()).find(test.message), std::string::npos) << cgx_last_error();
    job.step(own.get(), 0, 0);
  }
}

TEST(Levels, OfAPlanThatAreNoneAreRefused) {
  const Levels job{.ranks = 1};
  ContextPtr own = job.create(0);
  ASSERT_EQ(cgx_context_begin_profile(own.get(), kLearn), CGX_OK);
  job.step(own.get(), 0, 0);
  const Json good = Json::parse(learn(own.get()));
  const auto expect = [&](const Json &plan, const std::string &message) {
    EXPECT_EQ(cgx_context_adopt_plan(own.get(), plan.dump().c_str()), CGX_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(cgx_last_error()), "layer 'w': " + message);
  };
  Json plan = good;
  plan["layers"][0]["levels"].erase(3);
  expect(plan, "expected 8 levels of 3 bits, got 7");
  for (const Json &level : {Json(0.9999), Json(-1), Json("x"), Json(nullptr)}) {
    plan = good;
    plan["layers"][0]["levels"][1] = level;
    expect(plan, "expected levels ascending from 0 to 1");
  }
  plan = good;
  plan["layers"][0]["levels"][7] = 2;
  expect(plan, "expected levels ascending from 0 to 1");
  plan = good;
  plan["layers"][0]["codec"]["levels"] = "uniform";
  expect(plan, "expected no list of levels with quantize bits=3 bucket=512 rounding=nearest scale=bf16");
  EXPECT_EQ(cgx_context_adopt_plan(own.get(), good.dump().c_str()), CGX_OK) << cgx_last_error();
}

} // namespace
} // namespace cgx::test
