//===-- CollectiveTest.cpp - Other collectives, and common properties -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests gathers, scatters, broadcasts and permutations; counters, NaN and infinity, and
// concurrent contexts.
//
//===----------------------------------------------------------------------===//

#include "CollectiveFixture.h"

#include <algorithm>
#include <cmath>

namespace cgx::test {
namespace {

class CollectiveTest : public CollectiveFixture {};

TEST_P(CollectiveTest, AllGatherAlongEveryDimension) {
  for (uint64_t dim : {0, 1, 2})
    for (const cgx_codec &codec : {cgx_codec{}, quantize(4, 128)})
      add("all_gather", everybody(ranks()),
          {{.shape = {3, 50, 7}, .codec = codec},
           {.type = CGX_BF16, .shape = {1, 1, 1}, .codec = codec},
           {.shape = {2, 0, 3}, .codec = codec}},
          {{"dim", dim}}, [=, this](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
            return modelAllGather(inputs, everybody(ranks()), operand, dim, key);
          });
  runAndCompare();
}

TEST_P(CollectiveTest, ReduceScatterAlongEveryDimension) {
  uint64_t n = ranks();
  for (uint64_t dim : {0, 1, 2})
    for (const char *reduction : {"sum", "mean"})
      for (const cgx_codec &codec : {cgx_codec{}, quantize(4, 128)})
        add("reduce_scatter", everybody(ranks()),
            {{.shape = {n, 5 * n, 7 * n}, .codec = codec},
             {.type = CGX_BF16, .shape = {n, n, n}, .codec = codec},
             {.type = CGX_F16, .shape = {n, 2 * n, 3 * n}, .codec = codec},
             {.shape = {0, n, n}, .codec = codec}},
            {{"dim", dim}, {"reduction", reduction}},
            [=, this](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
              return modelReduceScatter(inputs, everybody(ranks()), operand, reduction, dim, key);
            });
  runAndCompare();
}

TEST_P(CollectiveTest, AllToAllOfEveryPairOfDimensions) {
  uint64_t n = ranks();
  for (uint64_t split : {0, 1})
    for (uint64_t concat : {0, 1, 2})
      for (const cgx_codec &codec : {cgx_codec{}, quantize(4, 128)})
        add("all_to_all", everybody(ranks()),
            {{.shape = {2 * n, 3 * n, 5}, .codec = codec},
             {.type = CGX_F16, .shape = {n, n, 40}, .codec = codec}},
            {{"split_dim", split}, {"concat_dim", concat}},
            [=, this](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
              return modelAllToAll(inputs, everybody(ranks()), operand, split, concat, key);
            });
  runAndCompare();
}

/// With `bucket=row` each token has a bucket of its own: its elements differ by no more than one level of its
/// own range, independent of the other tokens.
TEST_P(CollectiveTest, TokensHaveAScaleEach) {
  const uint64_t n = ranks();
  for (uint32_t round = 0; round < 6; ++round) {
    const uint64_t width = 1 + random() % 70;
    const uint32_t bits = 2 + random() % 7;
    cgx_codec codec = quantize(bits, uint32_t(width));
    codec.scale = CGX_SCALE_F32;
    const OperandSpec operand{.shape = {n * (random() % 4), 1 + random() % 5, width}, .codec = codec};
    const uint64_t split = 0, concat = random() % 2;
    SCOPED_TRACE(testing::Message() << operand.shape[0] << "x" << operand.shape[1] << "x" << width << " at "
                                    << bits << " bits, concat " << concat);
    auto model = [=, this](const PerRank &inputs, const OperandSpec &of, const ModelKey &key) {
      return modelAllToAll(inputs, everybody(ranks()), of, split, concat, key);
    };
    add("all_to_all", everybody(ranks()), {operand}, {{"split_dim", split}, {"concat_dim", concat}}, model);
    Case &one = cases.back();
    for (Bytes &input : one.inputs[0])
      for (uint64_t i = 0; i < operand.elements(); ++i) {
        float &element = reinterpret_cast<float *>(input.data())[i];
        element = (std::isfinite(element) ? element : 1.0f) * std::pow(100.0f, float(i / width % 7) - 3);
      }
    const ModelKey key{.seed = kSeed, .step = 0, .layerId = one.json["id"].get<uint64_t>() * 16};
    one.expected[0] = model(one.inputs[0], operand, key);
    OperandSpec exactly = operand;
    exactly.codec = {};
    const PerRank exact = model(one.inputs[0], exactly, key);
    for (uint32_t rank = 0; rank < n; ++rank)
      for (uint64_t begin = 0; begin < operand.elements(); begin += width) {
        const float *sent = reinterpret_cast<const float *>(exact[rank].data()) + begin;
        const float *got = reinterpret_cast<const float *>(one.expected[0][rank].data()) + begin;
        const auto [least, most] = std::minmax_element(sent, sent + width);
        const float level = (*most - *least) / float((1u << bits) - 1);
        for (uint64_t i = 0; i < width; ++i)
          ASSERT_NEAR(got[i], sent[i], 1.001f * level + 1e-5f * std::fabs(sent[i]))
              << rank << ", " << begin + i;
      }
  }
  runAndCompare();
}

TEST_P(CollectiveTest, BroadcastFromEveryRoot) {
  for (uint32_t root = 0; root < ranks(); ++root)
    add("broadcast", everybody(ranks()),
        {{.type = CGX_I32, .shape = {1001}}, {.shape = {1001}, .codec = quantize(4, 128)}}, {{"root", root}},
        [=, this](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
          return modelBroadcast(inputs, everybody(ranks()), operand, root, key);
        });
  runAndCompare();
}

TEST_P(CollectiveTest, PermuteShiftsAndZeroesWhoGetsNothing) {
  std::vector<std::pair<uint32_t, uint32_t>> ring, shift, self = {{0, 0}};
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    ring.emplace_back(rank, (rank + 1) % ranks());
  for (uint32_t rank = 1; rank < ranks(); ++rank)
    shift.emplace_back(rank - 1, rank);
  for (const auto &pairs : {ring, shift, self})
    add("permute", everybody(ranks()),
        {{.type = CGX_U16, .shape = {1001}}, {.shape = {1001}, .codec = quantize(4, 128)}},
        {{"source_target_pairs", pairs}},
        [=](const PerRank &inputs, const OperandSpec &operand, const ModelKey &key) {
          return modelPermute(inputs, pairs, operand, key);
        });
  runAndCompare();
}

/// Each pair takes part in some of the runs of a step; the next step starts again with the first run.
TEST_P(CollectiveTest, PermuteInSomeRunsOnly) {
  const std::vector<std::string> digits = {"1100", "0110", "0011"};
  const auto sends = [&](uint32_t rank, uint64_t run) { return digits[rank % 3][run % 4] == '1'; };
  std::vector<std::pair<uint32_t, uint32_t>> ring;
  Json ofPairs = Json::array();
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    ring.emplace_back(rank, (rank + 1) % ranks());
    ofPairs.push_back(digits[rank % 3]);
  }
  const Json json = collectiveJson(3, "permute", everybody(ranks()), {{.type = CGX_I32, .shape = {100}}},
                                   {{"source_target_pairs", ring}, {"sends", ofPairs}});
  runCollective(json, [&](cgx_context *context, uint32_t rank) {
    const uint32_t source = (rank + ranks() - 1) % ranks();
    uint64_t sent = 0;
    for (uint64_t step = 0; step < 2; ++step) {
      ASSERT_EQ(cgx_context_begin_step(context, step), CGX_OK);
      for (uint64_t run = 0; run < 6; ++run) {
        std::vector<int32_t> values(100, int32_t(1000 * (rank + 1) + run));
        auto *data = reinterpret_cast<std::byte *>(values.data());
        cgx_rt_operand(address(context), 3, 0, address(data), address(data));
        cgx_rt_run(address(context), 3);
        const int32_t expected = sends(source, run) ? int32_t(1000 * (source + 1) + run) : 0;
        EXPECT_EQ(values, std::vector<int32_t>(100, expected)) << "rank " << rank << ", run " << run;
        sent += sends(rank, run);
      }
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    }
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
    const Json counted = Json::parse(text);
    const uint64_t leaves = ranks() > 1;
    EXPECT_EQ(counted["wire_bytes"], leaves * sent * 400);
    EXPECT_EQ(counted["transport_bytes"], counted["wire_bytes"]);
  });
}

TEST_P(CollectiveTest, CountersEqualTheFormula) {
  cgx_codec codec = quantize(4, 128);
  OperandSpec compressed{.shape = {70001}, .codec = codec, .layer = "params/w"};
  OperandSpec exact{.type = CGX_BF16, .shape = {333}, .layer = "params/b"};
  addAllReduce(everybody(ranks()), {compressed, exact}, "sum");
  runJob([&](cgx_context *context, uint32_t rank) {
    for (uint64_t step = 0; step < 3; ++step) {
      std::vector<Bytes> outputs;
      ASSERT_EQ(cgx_context_begin_step(context, step), CGX_OK);
      execute(context, cases[0], rank, outputs);
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    }
    // The bytes follow from the definition: the contributions to the others' chunks, and the own chunk's
    // result to each of them.
    auto bytes = [&](const OperandSpec &operand, cgx_codec with) {
      uint64_t sum = 0, n = ranks();
      for (uint64_t chunk = 0; chunk < n && n > 1; ++chunk) {
        uint64_t elements = cgx_chunk_begin(&with, operand.elements(), n, chunk + 1) -
                            cgx_chunk_begin(&with, operand.elements(), n, chunk);
        // A compressed chunk is sent in payloads of at most 32768 elements, in whole buckets of 128.
        for (uint64_t done = 0; done < elements; done += 32768)
          sum += cgx_payload_bytes(&with, operand.type, std::min<uint64_t>(32768, elements - done)) *
                 (chunk == rank ? n - 1 : 1);
      }
      return 3 * sum;
    };
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
    Json json = Json::parse(text);
    EXPECT_EQ(json["rank"], rank);
    EXPECT_EQ(json["steps"], 3);
    EXPECT_EQ(json["wire_bytes"], bytes(compressed, codec) + bytes(exact, {}));
    EXPECT_EQ(json["raw_bytes"], bytes(compressed, {}) + bytes(exact, {}));
    EXPECT_EQ(json["transport_bytes"], json["wire_bytes"]);
    const Json &operands = json["collectives"][0]["operands"];
    EXPECT_EQ(operands[0]["layer"], "params/w");
    EXPECT_EQ(operands[0]["wire_bytes"], bytes(compressed, codec));
    EXPECT_EQ(operands[0]["raw_bytes"], bytes(compressed, {}));
    EXPECT_EQ(operands[1]["wire_bytes"], bytes(exact, {}));
    EXPECT_TRUE(ranks() == 1 || json["collectives"][0]["seconds"]["exchange"].get<double>() > 0.0);
  });
}

TEST_P(CollectiveTest, NotANumberReachesEveryRankAndOnlyItsBucket) {
  cgx_codec codec = quantize(4, 128);
  addAllReduce(everybody(ranks()), {{.shape = {1000}, .codec = codec}, {.shape = {1000}}}, "sum");
  runJob([&](cgx_context *context, uint32_t rank) {
    std::vector<std::vector<float>> tensors(2, std::vector<float>(1000, 1.0f));
    if (rank == ranks() - 1)
      for (std::vector<float> &tensor : tensors)
        tensor[700] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    for (int64_t i = 0; i < 2; ++i)
      cgx_rt_operand(address(context), 1, i, address(tensors[i].data()), address(tensors[i].data()));
    cgx_rt_run(address(context), 1);
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    EXPECT_TRUE(std::isnan(tensors[0][700]) && std::isnan(tensors[1][700])) << "rank " << rank;
    for (size_t i = 0; i < 1000; ++i) {
      EXPECT_TRUE(i / 128 == 700 / 128 || !std::isnan(tensors[0][i])) << i;
      EXPECT_TRUE(i == 700 || tensors[1][i] == float(ranks())) << i;
    }
  });
}

TEST_P(CollectiveTest, TwoInterleavedContextsDoNotMeet) {
  addAllReduce(everybody(ranks()), {{.shape = {5003}, .codec = quantize(4, 128)}}, "sum");
  std::string other = uniqueJob(), manifest = manifestText(ranks(), {cases[0].json});
  runJob([&](cgx_context *first, uint32_t rank) {
    ContextSpec spec{.transport = GetParam().transport,
                     .job = other,
                     .rank = rank,
                     .ranks = ranks(),
                     .manifest = manifest,
                     .seed = kSeed,
                     .ringBytes = GetParam().ringBytes};
    ContextPtr second;
    ASSERT_EQ(spec.create(second), CGX_OK) << cgx_last_error();
    for (int repetition = 0; repetition < 5; ++repetition)
      for (cgx_context *context : {first, second.get()}) {
        std::vector<Bytes> outputs;
        ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
        execute(context, cases[0], rank, outputs);
        ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
        expectModel(cases[0], rank, outputs);
      }
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, CollectiveTest, testing::ValuesIn(settings()), nameOf);

} // namespace
} // namespace cgx::test
