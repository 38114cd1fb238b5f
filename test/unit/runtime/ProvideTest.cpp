//===-- ProvideTest.cpp - Optimizer tensors that steps bind -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AllReduceTest shows that encoded bits are right. This file tests which steps must bind which
// tensors, and how long these are read.
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"
#include "cgx/formats/CodecJson.h"

#include <barrier>
#include <functional>
#include <gtest/gtest.h>

namespace cgx::test {
namespace {

constexpr uint64_t kElements = 5000;

cgx_codec gcomp(cgx_optimizer optimizer, float learningRate = 0.01f) {
  cgx_codec codec = {.family = CGX_CODEC_GCOMP, .optimizer = uint32_t(optimizer)};
  codec.learning_rate = learningRate;
  codec.momentum = cgx_optimizer_keeps(optimizer, CGX_KEPT_SECOND_MOMENT) ? 0.0f : 0.9f;
  return codec;
}

std::string manifestOf(const OperandSpec &operand, const Json &more = {{"reduction", "sum"}},
                       const char *kind = "all_reduce") {
  return manifestText(2, {collectiveJson(0, kind, everybody(2), {operand}, more)});
}

/// Runs one step of two ranks, in which `body(context)` does what a program would. Returns the first error.
std::string runStep(const std::string &manifest, const std::function<void(cgx_context *)> &body) {
  std::string job = uniqueJob(), message;
  std::barrier begun(2); // the first error ends the job, and the other rank must have begun by then
  runThreads(2, [&](uint32_t rank) {
    ContextPtr context;
    ContextSpec spec{.job = job, .rank = rank, .ranks = 2, .manifest = manifest};
    ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
    begun.arrive_and_wait();
    body(context.get());
    if (cgx_context_end_step(context.get()) != CGX_OK && rank == 0)
      message = cgx_last_error();
  });
  return message;
}

void run(cgx_context *context, std::vector<float> &gradient) {
  cgx_rt_operand(address(context), 0, 0, address(gradient.data()), address(gradient.data()));
  cgx_rt_run(address(context), 0);
}

void lend(cgx_context *context, cgx_kept kept, const std::vector<float> &tensor, int64_t type = CGX_F32) {
  cgx_rt_provide(address(context), 0, 0, kept, type, int64_t(tensor.size()), address(tensor.data()));
}

TEST(ProvideTest, ACollectiveRunsOnceTheStepHasLentAllThatItsCodecReads) {
  const std::vector<float> tensor(kElements, 1.0f), one(1, 0.5f);
  const char *names[] = {"the parameter", "the first moment", "the second moment", "the learning rate"};
  for (uint32_t optimizer = 0; optimizer < CGX_OPTIMIZER_COUNT; ++optimizer)
    for (float learningRate : {0.0f, 0.01f})
      for (uint32_t missing = 0; missing <= CGX_KEPT_COUNT; ++missing) {
        const cgx_codec codec = gcomp(cgx_optimizer(optimizer), learningRate);
        const std::string message =
            runStep(manifestOf({.shape = {kElements}, .codec = codec}), [&](cgx_context *context) {
              std::vector<float> gradient(kElements, 0.5f);
              for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
                if (kept != missing)
                  lend(context, cgx_kept(kept), kept == CGX_KEPT_LEARNING_RATE ? one : tensor);
              run(context, gradient);
            });
        if (missing == CGX_KEPT_COUNT || !cgx_codec_needs(&codec, missing)) {
          EXPECT_EQ(message, "");
        } else {
          EXPECT_NE(message.find("layer 'params/w'"), std::string::npos) << message;
          EXPECT_NE(message.find(names[missing]), std::string::npos) << message;
        }
      }
}

TEST(ProvideTest, WhatAStepLendsIsForgottenWhenItEnds) {
  const std::string job = uniqueJob(),
                    manifest = manifestOf({.shape = {kElements}, .codec = gcomp(CGX_OPTIMIZER_SGD)});
  const std::vector<float> tensor(kElements, 1.0f);
  std::barrier begun(2);
  runThreads(2, [&](uint32_t rank) {
    ContextPtr context;
    ContextSpec spec{.job = job, .rank = rank, .ranks = 2, .manifest = manifest};
    ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    std::vector<float> gradient(kElements, 0.5f);
    for (uint64_t step : {0, 1}) {
      ASSERT_EQ(cgx_context_begin_step(context.get(), step), CGX_OK);
      begun.arrive_and_wait();
      if (step == 0)
        lend(context.get(), CGX_KEPT_PARAMETER, tensor);
      run(context.get(), gradient);
      EXPECT_EQ(cgx_context_end_step(context.get()), step == 0 ? CGX_OK : CGX_INVALID_ARGUMENT);
    }
  });
}

TEST(ProvideTest, TensorsThatDoNotFitAreRefused) {
  const std::vector<float> tensor(kElements, 1.0f), shorter(kElements - 1, 1.0f);
  const auto refusal = [&](const std::function<void(cgx_context *)> &body) {
    return runStep(manifestOf({.shape = {kElements}, .codec = gcomp(CGX_OPTIMIZER_SGD)}), body);
  };
  EXPECT_NE(refusal([&](cgx_context *context) {
              lend(context, CGX_KEPT_PARAMETER, shorter);
            }).find("expected a tensor of 5000 elements, got 4999"),
            std::string::npos);
  EXPECT_NE(refusal([&](cgx_context *context) {
              lend(context, CGX_KEPT_LEARNING_RATE, tensor);
            }).find("expected one learning rate, got 5000"),
            std::string::npos);
  EXPECT_NE(refusal([&](cgx_context *context) {
              lend(context, CGX_KEPT_LEARNING_RATE, tensor, CGX_F16);
            }).find("expected a learning rate in f32, got type 1"),
            std::string::npos);
  for (const auto &[rate, text] :
       {std::pair(-0.5f, "-0.5"), std::pair(INFINITY, "inf"), std::pair(NAN, "nan")})
    EXPECT_NE(refusal([&](cgx_context *context) {
                lend(context, CGX_KEPT_LEARNING_RATE, std::vector<float>(1, rate));
              }).find(std::string("layer 'params/w': expected a learning rate of at least 0, got ") + text),
              std::string::npos);
  EXPECT_NE(refusal([&](cgx_context *context) {
              lend(context, CGX_KEPT_PARAMETER, tensor, CGX_I32);
            }).find("expected what an optimizer keeps in f32, f16 or bf16, got type 6"),
            std::string::npos);
  EXPECT_NE(refusal([&](cgx_context *context) {
              lend(context, CGX_KEPT_COUNT, tensor);
            }).find("expected a tensor of an optimizer, 0 to 3, got 4"),
            std::string::npos);
  EXPECT_NE(refusal([&](cgx_context *context) {
              cgx_rt_provide(address(context), 0, 1, 0, CGX_F32, kElements, address(tensor.data()));
            }).find("expected an operand below 1, got 1"),
            std::string::npos);
}

TEST(ProvideTest, WhereNothingIsLentTheCodecIsRefused) {
  const auto refusal = [](const std::string &manifest) {
    ContextPtr context;
    ContextSpec spec{.job = uniqueJob(), .ranks = 2, .manifest = manifest};
    EXPECT_EQ(spec.create(context), CGX_BAD_MANIFEST);
    return std::string(cgx_last_error());
  };
  const OperandSpec operand{.shape = {2, 50}, .codec = gcomp(CGX_OPTIMIZER_SGD)};
  for (const auto &[kind, more] : std::vector<std::pair<const char *, Json>>{
           {"all_gather", {{"dim", 0}}}, {"reduce_scatter", {{"dim", 0}, {"reduction", "sum"}}}})
    EXPECT_NE(refusal(manifestOf(operand, more, kind)).find("gcomp reads what the optimizer keeps"),
              std::string::npos);
  const Json hosts = {{"local", 2},
                      {"inside", {{"family", "gcomp"}, {"optimizer", "sgd"}, {"learning_rate", 1}}}};
  EXPECT_NE(refusal(manifestOf(operand,
                               {{"reduction", "sum"}, {"algorithm", "hierarchical"}, {"hierarchy", hosts}}))
                .find("expected a codec that reads nothing of an optimizer inside of hosts"),
            std::string::npos);
}

// A profile measures codecs on the gradients alone, without the optimizer's tensors.
TEST(ProvideTest, IsNoCandidateOfProfilesAndNoCodecOfPlansForOtherPrograms) {
  const std::string job = uniqueJob(),
                    manifest = manifestOf({.shape = {kElements}, .codec = quantize(4, 128)});
  const Json cost = {{"squared_error", 0}, {"wire_bytes", 1}, {"seconds", 0}};
  const Json layer = {{"layer", "params/w"}, {"kind", "gradient"},
                      {"dtype", "f32"},      {"elements", kElements},
                      {"squared_error", 0},  {"wire_bytes", 1},
                      {"raw_bytes", 1},      {"codec", writeCodec(gcomp(CGX_OPTIMIZER_SGD))}};
  const Json plan = {{"cgx_plan", 1},
                     {"program", "0123"},
                     {"solver", "uniform"},
                     {"proven", false},
                     {"objective", "bytes"},
                     {"alpha", 1},
                     {"planned", cost},
                     {"of_reference", cost},
                     {"layers", Json::array({layer})},
                     {"squared_error_bound", 1},
                     {"reference", {{"family", "identity"}}}};
  runThreads(2, [&](uint32_t rank) {
    ContextPtr context;
    ContextSpec spec{.job = job, .rank = rank, .ranks = 2, .manifest = manifest};
    ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    EXPECT_EQ(cgx_context_begin_profile(context.get(),
                                        R"({"candidates": ["gcomp optimizer=sgd learning_rate=0.1"]})"),
              CGX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cgx_last_error()).find("profiles do not see what the optimizer keeps"),
              std::string::npos)
        << cgx_last_error();
    EXPECT_EQ(cgx_context_adopt_plan(context.get(), plan.dump().c_str()), CGX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cgx_last_error()).find("gcomp reads what the optimizer keeps"), std::string::npos)
        << cgx_last_error();
  });
}

} // namespace
} // namespace cgx::test
