//===-- FactoredAllReduceTest.cpp - Matrices sent as factors -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Model.h"
#include "cgx/arithmetic/float16.h"
#include "cgx/wire.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <map>

namespace cgx::test {
namespace {

using Memory = std::map<std::string, std::vector<char>>;
/// The bytes of a tensor, by operand.
using Tensors = std::vector<Bytes>;

cgx_codec lowrank(uint32_t rank) { return {.family = CGX_CODEC_LOWRANK, .rank = rank}; }

/// A job of one collective, run for some steps.
struct LowrankJob {
  uint32_t ranks = 2;
  std::vector<OperandSpec> operands;
  std::string reduction = "mean";
  std::string algorithm = "auto";
  const char *transport = "inproc";
  const char *feedback = nullptr; ///< the type of the residuals of compressed operands
  std::function<Tensors(uint32_t rank, uint64_t step)> input;

  // The codec state after the last run, by rank.
  std::vector<Memory> memory;
  std::vector<Json> telemetry;

  std::string manifest() const {
    Json collective = collectiveJson(3, "all_reduce", everybody(ranks), operands,
                                     {{"reduction", reduction}, {"algorithm", algorithm}});
    for (Json &operand : collective["operands"])
      if (feedback && operand["codec"]["family"] != "identity") {
        operand["codec"]["error_feedback"] = feedback;
        operand["codec"]["decay"] = 1.0;
      }
    return manifestText(ranks, {collective});
  }

  /// Returns results by rank and step.
  std::vector<std::vector<Tensors>> run(uint64_t begin, uint64_t end) {
    std::string job = uniqueJob(), text = manifest();
    memory.resize(ranks);
    telemetry.resize(ranks);
    std::vector<std::vector<Tensors>> results(ranks);
    runThreads(ranks, [&](uint32_t rank) {
      ContextSpec spec{.transport = transport, .job = job, .rank = rank, .ranks = ranks, .manifest = text};
      results[rank] = runRank(spec, begin, end);
    });
    return results;
  }

private:
  template <typename Body> static void forEachState(cgx_context *context, Body body) {
    uint64_t count = 0;
    EXPECT_EQ(cgx_context_state_count(context, &count), CGX_OK);
    for (uint64_t i = 0; i < count; ++i) {
      cgx_state_tensor tensor;
      EXPECT_EQ(cgx_context_state_tensor(context, i, &tensor), CGX_OK);
      body(tensor.name, static_cast<char *>(tensor.data),
           tensor.elements * cgx_element_bytes(tensor.element_type));
    }
  }

  std::vector<Tensors> runRank(const ContextSpec &spec, uint64_t begin, uint64_t end) {
    ContextPtr context;
    EXPECT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    if (!context)
      return {};
    if (Memory &saved = memory[spec.rank]; !saved.empty())
      forEachState(context.get(), [&](const char *name, char *data, uint64_t bytes) {
        ASSERT_EQ(saved.at(name).size(), bytes);
        std::copy(saved[name].begin(), saved[name].end(), data);
      });
    std::vector<Tensors> results;
    for (uint64_t step = begin; step < end; ++step) {
      Tensors in = input(spec.rank, step), &out = results.emplace_back();
      EXPECT_EQ(cgx_context_begin_step(context.get(), step), CGX_OK);
      for (size_t i = 0; i < in.size(); ++i) {
        out.emplace_back(in[i].size());
        cgx_rt_operand(address(context.get()), 3, int64_t(i), address(in[i].data()), address(out[i].data()));
      }
      cgx_rt_run(address(context.get()), 3);
      EXPECT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
    }
    memory[spec.rank].clear();
    forEachState(context.get(), [&](const char *name, char *data, uint64_t bytes) {
      memory[spec.rank].emplace(name, std::vector<char>(data, data + bytes));
    });
    const char *json = nullptr;
    EXPECT_EQ(cgx_context_telemetry(context.get(), &json), CGX_OK);
    telemetry[spec.rank] = Json::parse(json);
    return results;
  }
};

std::vector<float> floatsOf(const OperandSpec &operand, const Bytes &bytes) {
  std::vector<float> values(operand.elements());
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half;
    if (operand.type == CGX_F32) {
      std::memcpy(&values[i], bytes.data() + 4 * i, 4);
    } else {
      std::memcpy(&half, bytes.data() + 2 * i, 2);
      values[i] = operand.type == CGX_F16 ? floatFromFloat16(half) : floatFromBfloat16(half);
    }
  }
  return values;
}

Bytes bytesOf(const std::vector<float> &values) {
  Bytes bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> normal(uint64_t elements, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(elements);
  for (float &value : values)
    value = distribution(random);
  return values;
}

/// Returns a sum of `rank` products of vectors. Ranks share the left ones, so that their sum has no larger
/// rank.
std::vector<float> matrixOfRank(uint64_t rank, uint64_t rows, uint64_t columns, uint64_t seed) {
  std::vector<float> left = normal(rank * rows, 99), right = normal(rank * columns, seed),
                     matrix(rows * columns);
  for (uint64_t i = 0; i < rows; ++i)
    for (uint64_t j = 0; j < columns; ++j)
      for (uint64_t k = 0; k < rank; ++k)
        matrix[i * columns + j] += left[k * rows + i] * right[k * columns + j];
  return matrix;
}

double norm(const std::vector<float> &values) {
  double sum = 0;
  for (float value : values)
    sum += double(value) * double(value);
  return std::sqrt(sum);
}

double distance(const std::vector<float> &a, const std::vector<float> &b) {
  std::vector<float> difference(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    difference[i] = a[i] - b[i];
  return norm(difference);
}

void expectEqualOnAllRanks(const std::vector<std::vector<Tensors>> &results) {
  for (const std::vector<Tensors> &rank : results)
    EXPECT_TRUE(rank == results[0]);
}

class FactoredAllReduceTest : public testing::TestWithParam<uint32_t> {
protected:
  uint32_t ranks() const { return GetParam(); }

  LowrankJob jobOf(std::vector<uint64_t> shape, uint32_t rank) const {
    LowrankJob job{.ranks = ranks(), .operands = {{.shape = shape, .codec = lowrank(rank)}}};
    job.input = [operand = job.operands[0]](uint32_t rank, uint64_t step) -> Tensors {
      return {bytesOf(normal(operand.elements(), rank * 1000 + step))};
    };
    return job;
  }
};

TEST_P(FactoredAllReduceTest, SumsOfThatRankAreExactUpToRounding) {
  for (const char *reduction : {"sum", "mean"})
    for (uint32_t rank : {1u, 2u, 4u, 8u}) {
      LowrankJob job = jobOf({30, 50}, rank);
      job.reduction = reduction;
      job.input = [&](uint32_t r, uint64_t) -> Tensors { return {bytesOf(matrixOfRank(rank, 30, 50, r))}; };
      auto results = job.run(0, 2);
      expectEqualOnAllRanks(results);
      std::vector<float> sum(30 * 50);
      for (uint32_t r = 0; r < ranks(); ++r) {
        std::vector<float> matrix = matrixOfRank(rank, 30, 50, r);
        for (size_t i = 0; i < sum.size(); ++i)
          sum[i] += matrix[i] / (std::string(reduction) == "mean" ? float(ranks()) : 1);
      }
      for (const Tensors &step : results[0])
        EXPECT_LT(distance(floatsOf(job.operands[0], step[0]), sum), 1e-4 * norm(sum)) << rank;
    }
}

TEST_P(FactoredAllReduceTest, TransportsGiveTheSameBits) {
  LowrankJob job{.ranks = ranks(), .feedback = "f32"};
  job.operands = {{.shape = {40, 30}, .codec = lowrank(3), .layer = "a"},
                  {.shape = {70}, .layer = "b"},
                  {.type = CGX_BF16, .shape = {3, 3, 8, 16}, .codec = lowrank(2), .layer = "c"},
                  {.shape = {1000}, .codec = quantize(4, 64), .layer = "d"},
                  {.type = CGX_F16, .shape = {64, 5}, .codec = lowrank(1), .layer = "e"},
                  {.shape = {0, 4}, .layer = "f"}};
  job.input = [&](uint32_t rank, uint64_t step) {
    std::mt19937_64 random(rank * 100 + step);
    Tensors tensors;
    for (const OperandSpec &operand : job.operands)
      tensors.push_back(randomTensor(operand.type, operand.elements(), random));
    return tensors;
  };
  auto expected = job.run(0, 4);
  expectEqualOnAllRanks(expected);
  job.memory.clear();
  job.transport = "shm";
  EXPECT_TRUE(job.run(0, 4) == expected);
}

TEST_P(FactoredAllReduceTest, ARunGoesOnFromItsMemory) {
  for (const char *storage : {static_cast<const char *>(nullptr), "f32", "bf16", "int8"}) {
    LowrankJob whole = jobOf({33, 20}, 3);
    whole.feedback = storage;
    LowrankJob parts = whole;
    auto expected = whole.run(0, 7), begun = parts.run(0, 3), ended = parts.run(3, 7);
    for (uint32_t rank = 0; rank < ranks(); ++rank) {
      begun[rank].insert(begun[rank].end(), ended[rank].begin(), ended[rank].end());
      EXPECT_TRUE(begun[rank] == expected[rank]) << (storage ? storage : "none");
      EXPECT_TRUE(whole.memory[rank] == parts.memory[rank]);
    }
  }
}

TEST_P(FactoredAllReduceTest, WhatIsLostArrivesLater) {
  LowrankJob job = jobOf({24, 36}, 2);
  job.feedback = "f32";
  job.reduction = "sum";
  constexpr uint64_t steps = 25;
  auto results = job.run(0, steps);
  expectEqualOnAllRanks(results);
  if (ranks() == 1)
    return;
  std::vector<float> given(24 * 36), arrived(24 * 36), held(24 * 36);
  for (uint64_t step = 0; step < steps; ++step) {
    for (uint32_t rank = 0; rank < ranks(); ++rank) {
      std::vector<float> matrix = normal(24 * 36, rank * 1000 + step);
      for (size_t i = 0; i < given.size(); ++i)
        given[i] += matrix[i];
    }
    std::vector<float> result = floatsOf(job.operands[0], results[0][step][0]);
    for (size_t i = 0; i < given.size(); ++i)
      arrived[i] += result[i];
  }
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    const std::vector<char> &bytes = job.memory[rank].at("residual[3.0 params/w].contribution");
    ASSERT_EQ(bytes.size(), held.size() * 4);
    for (size_t i = 0; i < held.size(); ++i) {
      float value;
      std::memcpy(&value, bytes.data() + 4 * i, 4);
      held[i] += value;
    }
  }
  EXPECT_GT(norm(held), 1);
  for (size_t i = 0; i < held.size(); ++i)
    EXPECT_NEAR(given[i], arrived[i] + held[i], 1e-3);
}

TEST_P(FactoredAllReduceTest, StepsOfOneMatrixComeNearerToIt) {
  LowrankJob job = jobOf({50, 40}, 4);
  job.input = [](uint32_t, uint64_t) -> Tensors { return {bytesOf(normal(50 * 40, 5))}; };
  auto results = job.run(0, 20);
  std::vector<float> matrix = normal(50 * 40, 5);
  double first = distance(floatsOf(job.operands[0], results[0].front()[0]), matrix);
  double last = distance(floatsOf(job.operands[0], results[0].back()[0]), matrix);
  if (ranks() == 1)
    EXPECT_EQ(last, 0); // nothing is encoded
  else
    EXPECT_LT(last, 0.97 * first);
}

TEST_P(FactoredAllReduceTest, WhatIsNotFiniteIsSeenByAllAndForgotten) {
  if (ranks() == 1)
    return;
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN()}) {
    LowrankJob job = jobOf({20, 30}, 2);
    job.feedback = "f32";
    auto good = job.input;
    job.input = [=, this](uint32_t rank, uint64_t step) {
      Tensors tensors = good(rank, step);
      if (step == 2 && rank == ranks() - 1)
        std::memcpy(tensors[0].data() + 4 * 77, &bad, 4);
      return tensors;
    };
    auto results = job.run(0, 4);
    expectEqualOnAllRanks(results);
    for (float value : floatsOf(job.operands[0], results[0][2][0]))
      ASSERT_TRUE(std::isnan(value));
    // The next step has the results of a job without this one.
    LowrankJob other = jobOf({20, 30}, 2);
    other.feedback = "f32";
    (void)other.run(0, 2);
    auto expected = other.run(3, 4);
    EXPECT_TRUE(results[0][3] == expected[0][0]);
  }
}

TEST_P(FactoredAllReduceTest, LargeAndSmallNumbersKeepTheirShape) {
  for (float scale : {1e-38f, 1e-20f, 1e18f, 1e35f}) {
    LowrankJob job = jobOf({25, 25}, 3);
    job.input = [&](uint32_t rank, uint64_t) -> Tensors {
      std::vector<float> matrix = matrixOfRank(3, 25, 25, rank);
      for (float &value : matrix)
        value *= scale;
      return {bytesOf(matrix)};
    };
    auto results = job.run(0, 3);
    expectEqualOnAllRanks(results);
    std::vector<float> mean(25 * 25);
    for (uint32_t rank = 0; rank < ranks(); ++rank) {
      std::vector<float> matrix = matrixOfRank(3, 25, 25, rank);
      for (size_t i = 0; i < mean.size(); ++i)
        mean[i] += matrix[i] / float(ranks());
    }
    std::vector<float> last = floatsOf(job.operands[0], results[0][2][0]);
    for (float &value : last)
      value /= scale;
    EXPECT_LT(distance(last, mean), 2e-3 * norm(mean)) << scale;
  }
}

TEST_P(FactoredAllReduceTest, SendsTheBytesThatArePredicted) {
  LowrankJob job = jobOf({3, 3, 8, 16}, 2);
  job.operands.push_back({.type = CGX_BF16, .shape = {40, 64}, .codec = lowrank(3), .layer = "b"});
  job.operands.push_back({.shape = {50}, .layer = "c"});
  job.input = [&](uint32_t rank, uint64_t) {
    std::mt19937_64 random(rank);
    Tensors tensors;
    for (const OperandSpec &operand : job.operands)
      tensors.push_back(randomTensor(operand.type, operand.elements(), random));
    return tensors;
  };
  (void)job.run(0, 3);
  const cgx_codec exact{};
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    uint64_t all = 0;
    for (size_t i = 0; i < job.operands.size(); ++i) {
      const OperandSpec &operand = job.operands[i];
      const Json &counted = job.telemetry[rank]["collectives"][0]["operands"][i];
      cgx_codec codec = cgx_codec_for_shape(&operand.codec, operand.shape.data(), operand.shape.size());
      uint64_t wire = 3 * cgx_all_reduce_wire_bytes(&codec, operand.type, operand.elements(), ranks(), rank);
      EXPECT_EQ(counted["wire_bytes"], wire) << i;
      EXPECT_EQ(counted["raw_bytes"],
                3 * cgx_all_reduce_wire_bytes(&exact, operand.type, operand.elements(), ranks(), rank));
      all += wire;
    }
    EXPECT_EQ(job.telemetry[rank]["transport_bytes"], all);
  }
  if (ranks() == 2) {
    // Each rank sends half of each factor of 72x16 to the other, for the contribution and for the sum.
    EXPECT_EQ(job.telemetry[0]["collectives"][0]["operands"][0]["wire_bytes"], 3 * 2 * 2 * (72 + 16) / 2 * 4);
  }
}

// The order of additions differs, and with it the last bits. The bytes are those of the algorithm for the
// factors.
TEST_P(FactoredAllReduceTest, FactorsTravelByAnyAlgorithm) {
  for (auto [name, algorithm] : {std::pair("ring", CGX_ALGORITHM_RING),
                                 {"tree", CGX_ALGORITHM_TREE},
                                 {"halving_doubling", CGX_ALGORITHM_HALVING_DOUBLING}}) {
    LowrankJob job = jobOf({30, 50}, 3);
    job.algorithm = name;
    job.input = [](uint32_t r, uint64_t) -> Tensors { return {bytesOf(matrixOfRank(3, 30, 50, r))}; };
    auto results = job.run(0, 2);
    expectEqualOnAllRanks(results);
    std::vector<float> mean(30 * 50);
    for (uint32_t r = 0; r < ranks(); ++r) {
      std::vector<float> matrix = matrixOfRank(3, 30, 50, r);
      for (size_t i = 0; i < mean.size(); ++i)
        mean[i] += matrix[i] / float(ranks());
    }
    EXPECT_LT(distance(floatsOf(job.operands[0], results[0][1][0]), mean), 1e-4 * norm(mean)) << name;
    cgx_schedule schedule{.algorithm = uint32_t(algorithm), .local = 0, .leaders = 0, .inside = {}};
    cgx_codec codec = lowrank(3);
    codec.rows = 30;
    const cgx_codec exact{};
    for (uint32_t r = 0; r < ranks(); ++r) {
      const Json &counted = job.telemetry[r]["collectives"][0]["operands"][0];
      EXPECT_EQ(counted["wire_bytes"],
                2 * cgx_scheduled_wire_bytes(&schedule, &codec, CGX_F32, 1500, ranks(), r));
      EXPECT_EQ(counted["raw_bytes"],
                2 * cgx_scheduled_wire_bytes(&schedule, &exact, CGX_F32, 1500, ranks(), r));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, FactoredAllReduceTest, testing::Values(1, 2, 3, 5, 8),
                         [](const auto &info) { return std::to_string(info.param) + "ranks"; });

std::string refusalOf(const std::string &kind, const std::string &reduction, OperandSpec operand) {
  Json collective =
      collectiveJson(3, kind, everybody(2), {operand}, {{"reduction", reduction}, {"dim", 0}, {"root", 0}});
  std::string job = uniqueJob(), text = manifestText(2, {collective});
  ContextPtr context;
  ContextSpec spec{.job = job, .rank = 0, .ranks = 2, .manifest = text};
  EXPECT_EQ(spec.create(context), CGX_BAD_MANIFEST);
  return cgx_last_error();
}

TEST(LowrankManifestTest, RefusesWhereItCannotBeUsed) {
  const std::string why = "lowrank is for sums and means of matrices that are longer than its factors";
  for (std::vector<uint64_t> shape : {std::vector<uint64_t>{100}, {1, 100}, {0, 50}, {2, 2}, {}})
    EXPECT_NE(refusalOf("all_reduce", "sum", {.shape = shape, .codec = lowrank(1)}).find(why),
              std::string::npos);
  OperandSpec matrix{.shape = {40, 40}, .codec = lowrank(2)};
  EXPECT_NE(refusalOf("all_reduce", "max", matrix).find(why), std::string::npos);
  EXPECT_NE(refusalOf("reduce_scatter", "sum", matrix).find(why), std::string::npos);
  EXPECT_NE(refusalOf("all_gather", "sum", matrix).find(why), std::string::npos);
  EXPECT_NE(refusalOf("broadcast", "sum", matrix).find(why), std::string::npos);
  EXPECT_NE(refusalOf("all_reduce", "sum", {.shape = {40, 40}, .codec = lowrank(20)})
                .find("expected lowrank of rank 1 to 19, got 20"),
            std::string::npos);
}

} // namespace
} // namespace cgx::test
