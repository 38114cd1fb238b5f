//===-- AdoptProgramTest.cpp - Ranks that continue with another program -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If layers are in other groups from some step on, their results do not change: the connection
// and the state of codecs are kept, whatever collective a layer is in.
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include <gtest/gtest.h>
#include <latch>
#include <map>
#include <random>

namespace cgx::test {
namespace {

using Tensor = std::vector<float>;
/// The tensors of a rank, by layer.
using Tensors = std::vector<Tensor>;
/// The layers of each collective.
using Grouping = std::vector<std::vector<uint32_t>>;

constexpr uint32_t kLayers = 3;
constexpr uint64_t kElements[kLayers] = {1000, 256, 77};
constexpr uint64_t kSteps = 9;

std::string program(uint32_t ranks, const Grouping &grouping, const char *storage, const std::string &hash) {
  std::vector<Json> collectives;
  for (const std::vector<uint32_t> &layers : grouping) {
    std::vector<OperandSpec> operands;
    for (uint32_t layer : layers)
      operands.push_back({.shape = {kElements[layer]},
                          .codec = quantize(1, 64, CGX_ROUND_NEAREST),
                          .layer = "layer" + std::to_string(layer)});
    Json &collective = collectives.emplace_back(collectiveJson(
        uint32_t(collectives.size()), "all_reduce", everybody(ranks), operands, {{"reduction", "sum"}}));
    for (Json &operand : collective["operands"])
      operand["codec"].update({{"error_feedback", storage}, {"decay", 1.0}});
  }
  return manifestText(ranks, collectives, hash);
}

Tensor contribution(uint32_t rank, uint64_t step, uint32_t layer) {
  std::mt19937_64 random((rank * 1000 + step) * kLayers + layer);
  std::normal_distribution<float> normal;
  Tensor tensor(kElements[layer]);
  for (float &x : tensor)
    x = normal(random);
  return tensor;
}

Tensors runStep(cgx_context *context, uint32_t rank, uint64_t step, const Grouping &grouping) {
  Tensors inputs, outputs;
  for (uint32_t layer = 0; layer < kLayers; ++layer) {
    inputs.push_back(contribution(rank, step, layer));
    outputs.emplace_back(kElements[layer]);
  }
  EXPECT_EQ(cgx_context_begin_step(context, step), CGX_OK) << cgx_last_error();
  for (size_t id = 0; id < grouping.size(); ++id) {
    for (size_t i = 0; i < grouping[id].size(); ++i) {
      const uint32_t layer = grouping[id][i];
      cgx_rt_operand(address(context), int64_t(id), int64_t(i), address(inputs[layer].data()),
                     address(outputs[layer].data()));
    }
    cgx_rt_run(address(context), int64_t(id));
  }
  EXPECT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
  return outputs;
}

const Grouping kEachByItself{{0}, {1}, {2}}, kTogether{{2, 0, 1}}, kTwo{{1}, {0, 2}};

struct Setting {
  std::string transport;
  uint32_t ranks;
};

class AdoptProgramTest : public testing::TestWithParam<Setting> {
protected:
  ContextSpec spec(const std::string &job, uint32_t rank, const std::string &manifest) const {
    return {
        .transport = GetParam().transport, .job = job, .rank = rank, .ranks = ranks(), .manifest = manifest};
  }
  uint32_t ranks() const { return GetParam().ranks; }

  /// Returns the results of all steps. At each step in `from`, another grouping begins.
  std::vector<Tensors> run(const char *storage, const std::map<uint64_t, Grouping> &from) const {
    const std::string job = uniqueJob();
    std::vector<std::vector<Tensors>> results(ranks());
    runThreads(ranks(), [&](uint32_t rank) {
      Grouping grouping = kEachByItself;
      ContextPtr context;
      ASSERT_EQ(spec(job, rank, program(ranks(), grouping, storage, "first")).create(context), CGX_OK)
          << cgx_last_error();
      for (uint64_t step = 0; step < kSteps; ++step) {
        if (auto next = from.find(step); next != from.end()) {
          grouping = next->second;
          const std::string manifest = program(ranks(), grouping, storage, "step" + std::to_string(step));
          ASSERT_EQ(cgx_context_adopt_program(context.get(), manifest.c_str()), CGX_OK) << cgx_last_error();
        }
        results[rank].push_back(runStep(context.get(), rank, step, grouping));
      }
    });
    EXPECT_EQ(leftovers(job), "");
    for (uint32_t rank = 1; rank < ranks(); ++rank)
      EXPECT_EQ(results[rank], results[0]);
    return results[0];
  }
};

TEST_P(AdoptProgramTest, ResultsAreThoseOfOneProgram) {
  for (const char *storage : {"f32", "bf16", "int8"})
    EXPECT_EQ(run(storage, {{1, kTogether}, {4, kTwo}, {5, kTwo}, {7, kEachByItself}}), run(storage, {}))
        << storage;
}

TEST_P(AdoptProgramTest, RanksThatDifferGoOnAsBefore) {
  const std::string job = uniqueJob(), first = program(ranks(), kEachByItself, "f32", "first");
  runThreads(ranks(), [&](uint32_t rank) {
    ContextPtr context;
    ASSERT_EQ(spec(job, rank, first).create(context), CGX_OK) << cgx_last_error();
    const std::string next = program(ranks(), kTogether, "f32", rank == 0 ? "this" : "that");
    const cgx_status expected = ranks() == 1 ? CGX_OK : CGX_MISMATCH;
    EXPECT_EQ(cgx_context_adopt_program(context.get(), next.c_str()), expected);
    if (expected == CGX_OK)
      return;
    EXPECT_NE(std::string(cgx_last_error()).find("'this' on rank 0"), std::string::npos) << cgx_last_error();
    runStep(context.get(), rank, 0, kEachByItself);
  });
}

TEST_P(AdoptProgramTest, AManifestThatOneRankCannotReadEndsTheJob) {
  const std::string job = uniqueJob(), first = program(ranks(), kEachByItself, "f32", "first"),
                    next = program(ranks(), kTogether, "f32", "next");
  std::latch areConnected(ranks());
  runThreads(ranks(), [&](uint32_t rank) {
    ContextPtr context;
    EXPECT_EQ(spec(job, rank, first).create(context), CGX_OK) << cgx_last_error();
    areConnected.arrive_and_wait();
    EXPECT_NE(cgx_context_adopt_program(context.get(), rank == 0 ? "{" : next.c_str()), CGX_OK);
    EXPECT_NE(cgx_context_begin_step(context.get(), 0), CGX_OK);
  });
}

TEST_P(AdoptProgramTest, WhatACodecRemembersIsNotDropped) {
  const std::string job = uniqueJob(), first = program(ranks(), kEachByItself, "f32", "first"),
                    next = program(ranks(), {{0}, {1}}, "f32", "fewer");
  runThreads(ranks(), [&](uint32_t rank) {
    ContextPtr context;
    ASSERT_EQ(spec(job, rank, first).create(context), CGX_OK) << cgx_last_error();
    runStep(context.get(), rank, 0, kEachByItself);
    const bool owes = ranks() > 1; // a single rank sends nothing, so it has no residual
    EXPECT_EQ(cgx_context_adopt_program(context.get(), next.c_str()) == CGX_OK, !owes);
    if (owes) {
      EXPECT_NE(std::string(cgx_last_error()).find("layer2"), std::string::npos) << cgx_last_error();
    }
  });
}

TEST_P(AdoptProgramTest, StepsAreNotInterrupted) {
  const std::string job = uniqueJob(), first = program(ranks(), kEachByItself, "f32", "first");
  runThreads(ranks(), [&](uint32_t rank) {
    ContextPtr context;
    ASSERT_EQ(spec(job, rank, first).create(context), CGX_OK) << cgx_last_error();
    ASSERT_EQ(cgx_context_begin_step(context.get(), 5), CGX_OK);
    EXPECT_EQ(cgx_context_adopt_program(context.get(), first.c_str()), CGX_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cgx_last_error()).find("not in step 5"), std::string::npos) << cgx_last_error();
    EXPECT_EQ(cgx_context_end_step(context.get()), CGX_OK);
  });
  EXPECT_EQ(cgx_context_adopt_program(nullptr, first.c_str()), CGX_INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Settings, AdoptProgramTest,
                         testing::Values(Setting{"inproc", 1}, Setting{"inproc", 2}, Setting{"inproc", 5},
                                         Setting{"shm", 2}, Setting{"shm", 3}),
                         [](const auto &info) {
                           return info.param.transport + std::to_string(info.param.ranks);
                         });

} // namespace
} // namespace cgx::test
