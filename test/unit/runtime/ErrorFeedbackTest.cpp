//===-- ErrorFeedbackTest.cpp - Error feedback ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>

namespace cgx::test {
namespace {

using Tensor = std::vector<float>;
/// The codec state of one rank: bytes by name.
using Memory = std::map<std::string, std::vector<char>>;

constexpr uint64_t kElements = 1000; // not a multiple of the bucket

/// Returns a program with an all-reduce that loses much: one bit, nearest, with error feedback.
std::string program(uint32_t ranks, const char *storage, double decay,
                    const Json &algorithm = {{"algorithm", "auto"}}) {
  OperandSpec operand{.shape = {kElements}, .codec = quantize(1, 64, CGX_ROUND_NEAREST)};
  Json collective = collectiveJson(3, "all_reduce", everybody(ranks), {operand}, {{"reduction", "sum"}});
  collective.update(algorithm);
  collective["operands"][0]["codec"]["error_feedback"] = storage;
  collective["operands"][0]["codec"]["decay"] = decay;
  return manifestText(ranks, {collective});
}

Tensor contribution(uint32_t rank, uint64_t step) {
  std::mt19937_64 random(rank * 1000 + step);
  std::normal_distribution<float> normal;
  Tensor tensor(kElements);
  for (float &x : tensor)
    x = normal(random);
  return tensor;
}

/// Runs the steps [begin, end) of one rank with `memory` as its state, which is updated. Returns the results.
std::vector<Tensor> runSteps(const ContextSpec &spec, uint64_t begin, uint64_t end, Memory &memory,
                             const std::function<Tensor(uint32_t, uint64_t)> &input = contribution) {
  ContextPtr context;
  EXPECT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
  auto forEachState = [&](auto body) {
    uint64_t count = 0;
    EXPECT_EQ(cgx_context_state_count(context.get(), &count), CGX_OK);
    for (uint64_t i = 0; i < count; ++i) {
      cgx_state_tensor tensor;
      EXPECT_EQ(cgx_context_state_tensor(context.get(), i, &tensor), CGX_OK);
      auto *data = static_cast<char *>(tensor.data);
      body(tensor.name, data, data + tensor.elements * cgx_element_bytes(tensor.element_type));
    }
  };
  if (!memory.empty())
    forEachState([&](const char *name, char *data, char *) {
      const std::vector<char> &saved = memory.at(name);
      std::copy(saved.begin(), saved.end(), data);
    });
  std::vector<Tensor> results;
  for (uint64_t step = begin; step < end; ++step) {
    Tensor in = input(spec.rank, step), &out = results.emplace_back(kElements);
    EXPECT_EQ(cgx_context_begin_step(context.get(), step), CGX_OK);
    cgx_rt_operand(address(context.get()), 3, 0, address(in.data()), address(out.data()));
    cgx_rt_run(address(context.get()), 3);
    EXPECT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
  }
  memory.clear();
  forEachState([&](const char *name, char *data, char *end) {
    EXPECT_TRUE(memory.emplace(name, std::vector<char>(data, end)).second) << name << " is there twice";
  });
  return results;
}

ContextSpec specOf(const std::string &job, uint32_t rank, uint32_t ranks, const std::string &manifest) {
  return {.job = job, .rank = rank, .ranks = ranks, .manifest = manifest};
}

Tensor residual(const Memory &memory, const std::string &phase) {
  const std::vector<char> &bytes = memory.at("residual[3.0 params/w]." + phase);
  Tensor values(bytes.size() / sizeof(float));
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class ErrorFeedbackTest : public testing::TestWithParam<uint32_t> {};

// Expects that the contributions equal the results plus the residuals of the ranks, for any number of bits.
// `encodes` is false where nothing is encoded.
void expectNothingLost(uint32_t ranks, bool encodes, const Json &algorithm) {
  constexpr uint64_t steps = 20;
  std::string job = uniqueJob(), manifest = program(ranks, "f32", 1.0, algorithm);
  std::vector<Memory> memory(ranks);
  std::vector<std::vector<Tensor>> results(ranks);
  runThreads(ranks, [&](uint32_t rank) {
    results[rank] = runSteps(specOf(job, rank, ranks, manifest), 0, steps, memory[rank]);
  });
  std::vector<double> missing(kElements), held(kElements);
  uint64_t chunkBegin = 0;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(results[rank], results[0]);
    Tensor lost = residual(memory[rank], "contribution"), own = residual(memory[rank], "result");
    for (uint64_t i = 0; i < own.size(); ++i)
      held[chunkBegin + i] += own[i];
    chunkBegin += own.size();
    for (uint64_t i = 0; i < lost.size(); ++i)
      held[i] += lost[i];
    for (uint64_t i = 0; i < kElements; ++i) {
      for (uint64_t step = 0; step < steps; ++step)
        missing[i] += contribution(rank, step)[i];
    }
  }
  EXPECT_EQ(chunkBegin, kElements);
  for (uint64_t step = 0; step < steps; ++step)
    for (uint64_t i = 0; i < kElements; ++i)
      missing[i] -= results[0][step][i];
  double largest = 0;
  for (uint64_t i = 0; i < kElements; ++i) {
    EXPECT_NEAR(missing[i], held[i], 1e-3);
    largest = std::max(largest, std::fabs(held[i]));
  }
  if (encodes) {
    EXPECT_GT(largest, 0.1); // one bit does lose something
  }
}

// With any algorithm, a rank that encodes a sum of several contributions keeps the error of that.
TEST_P(ErrorFeedbackTest, NothingIsLostForGood) {
  for (const char *algorithm : {"auto", "ring", "tree", "halving_doubling"})
    expectNothingLost(GetParam(), /*encodes=*/GetParam() > 1, {{"algorithm", algorithm}});
  if (GetParam() % 2 == 0) // two ranks form one host, within which nothing is encoded
    expectNothingLost(GetParam(), /*encodes=*/GetParam() > 2,
                      {{"algorithm", "hierarchical"}, {"hierarchy", {{"local", 2}, {"leaders", "one"}}}});
}

TEST_P(ErrorFeedbackTest, ARunGoesOnFromItsMemory) {
  const uint32_t ranks = GetParam();
  for (const char *storage : {"f32", "bf16", "int8"}) {
    std::string manifest = program(ranks, storage, 0.9);
    auto run = [&](uint64_t begin, uint64_t end, std::vector<Memory> &memory) {
      std::string job = uniqueJob();
      std::vector<std::vector<Tensor>> results(ranks);
      runThreads(ranks, [&](uint32_t rank) {
        results[rank] = runSteps(specOf(job, rank, ranks, manifest), begin, end, memory[rank]);
      });
      return results[0];
    };
    std::vector<Memory> whole(ranks), parts(ranks);
    std::vector<Tensor> expected = run(0, 9, whole), results = run(0, 4, parts);
    for (Tensor &tensor : run(4, 9, parts))
      results.push_back(std::move(tensor));
    EXPECT_EQ(results, expected) << storage;
    EXPECT_EQ(parts, whole) << storage;
  }
}

// A step whose gradients overflow has infinite results, and does not affect the next one.
TEST_P(ErrorFeedbackTest, WhatIsNotFiniteIsNotRemembered) {
  const uint32_t ranks = GetParam();
  std::string job = uniqueJob(), manifest = program(ranks, "f32", 1.0);
  runThreads(ranks, [&](uint32_t rank) {
    Memory memory;
    auto input = [](uint32_t rank, uint64_t step) {
      Tensor tensor = contribution(rank, step);
      if (rank == 0 && step == 1) {
        tensor[17] = std::numeric_limits<float>::infinity();
        tensor[700] = std::numeric_limits<float>::quiet_NaN();
      }
      return tensor;
    };
    std::vector<Tensor> results = runSteps(specOf(job, rank, ranks, manifest), 0, 3, memory, input);
    EXPECT_FALSE(std::isfinite(results[1][17]));
    EXPECT_FALSE(std::isfinite(results[1][700]));
    for (float value : results[2])
      EXPECT_TRUE(std::isfinite(value));
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ErrorFeedbackTest, testing::Values(1, 2, 3, 5, 8));

} // namespace
} // namespace cgx::test
