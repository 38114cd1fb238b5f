//===-- PermuteChangesTest.cpp - Permutes that send changes of activations -===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests Algorithm 1 of the AQ-SGD paper over several steps: every rank sends rows of randomly
// drawn samples around a ring, and the test computes the results from the definition.
//
//===----------------------------------------------------------------------===//

#include "CollectiveFixture.h"

#include "cgx/arithmetic/float16.h"
#include "cgx/arithmetic/residual.h"
#include "cgx/kernels/codecs.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

namespace cgx::test {
namespace {

constexpr uint64_t kRows = 5, kRowElements = 130, kSamples = 9, kSteps = 6;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class PermuteChangesTest : public CollectiveFixture {
protected:
  Json collective(cgx_element_type type, const std::string &storage, uint64_t samples = kSamples) const {
    OperandSpec rows{
        .type = type, .shape = {kRows, kRowElements}, .codec = codec, .layer = "pipeline/forward"},
        ids{.type = CGX_I32, .shape = {kRows}, .layer = "pipeline/forward/ids"};
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t rank = 0; rank < ranks(); ++rank)
      pairs.emplace_back(rank, target(rank));
    Json json =
        collectiveJson(kId, "permute", everybody(ranks()), {rows, ids}, {{"source_target_pairs", pairs}});
    json["operands"][0]["codec"]["delta"] = storage;
    json["operands"][0]["codec"]["samples"] = samples;
    return json;
  }

  uint32_t target(uint32_t rank) const { return (rank + 1) % ranks(); }
  uint32_t source(uint32_t rank) const { return (rank + ranks() - 1) % ranks(); }

  /// Returns a rank's values of `type` in a step, in f32. Samples change little from step to step.
  static std::vector<float> rowOf(cgx_element_type type, uint32_t rank, int32_t id, uint64_t step) {
    std::vector<float> values(kRowElements), rounded(kRowElements, -0.0f);
    for (uint64_t e = 0; e < kRowElements; ++e)
      values[e] =
          std::sin(float(rank * 31 + uint32_t(id + 10) * 7 + e)) + 0.01f * float(step) * std::cos(float(e));
    values[3] = -0.0f;
    Bytes bytes(kRowElements * cgx_element_bytes(type));
    encodeFromF32(cgx_codec{}, type, values.data(), kRowElements, {}, 0, bytes.data());
    (void)decodeAccumulate(cgx_codec{}, type, bytes.data(), bytes.size(), kRowElements, rounded.data());
    return rounded;
  }

  /// Returns the samples of a message, all different; one id stands for no sample.
  static std::vector<int32_t> idsOf(uint32_t rank, uint64_t step) {
    std::vector<int32_t> ids;
    for (uint64_t row = 0; row < kRows; ++row)
      ids.push_back(int32_t((rank + 2 * step + row) % kSamples));
    ids[step % kRows] = -1 - int32_t(step % kRows);
    return ids;
  }

  static Bytes narrow(cgx_element_type type, const std::vector<float> &values) {
    Bytes bytes(values.size() * cgx_element_bytes(type));
    encodeFromF32(cgx_codec{}, type, values.data(), values.size(), {}, 0, bytes.data());
    return bytes;
  }

  /// The message buffers of one edge, and its target's results.
  struct Edge {
    std::map<int32_t, std::vector<float>> messages;
    uint64_t firsts = 0;
  };

  static float kept(float value, const std::string &storage) {
    return storage == "bf16" ? floatFromBfloat16(keepAsBf16(value)) : value;
  }

  Bytes expect(Edge &edge, cgx_element_type type, const std::string &storage, uint32_t sender,
               uint64_t step) const {
    return expect(edge, type, storage, sender, step, {step, 0});
  }

  /// Returns the bytes that a rank sends in a run of a step.
  Bytes expect(Edge &edge, cgx_element_type type, const std::string &storage, uint32_t sender, uint64_t step,
               std::pair<uint64_t, uint64_t> sentIn) const {
    const std::vector<int32_t> ids = idsOf(sender, step);
    std::vector<float> change, before;
    std::vector<bool> isFirst;
    for (int32_t id : ids) {
      std::vector<float> row = rowOf(type, sender, id, step), message(kRowElements, 0.0f);
      isFirst.push_back(!edge.messages.contains(id));
      if (!isFirst.back())
        message = edge.messages[id];
      for (uint64_t e = 0; e < kRowElements; ++e)
        change.push_back(isFirst.back() ? 0.0f : row[e] - message[e]);
      before.insert(before.end(), message.begin(), message.end());
    }
    Bytes payload(cgx_payload_bytes(&codec, type, change.size()));
    encodeFromF32(
        codec, type, change.data(), change.size(),
        makeRandomKey(kSeed, sentIn.first, uint64_t(kId) * 16, encoderOf(sender), 2 * sentIn.second), 0,
        payload.data());
    EXPECT_EQ(decodeAccumulate(codec, type, payload.data(), payload.size(), before.size(), before.data()),
              DecodeError::ok);
    for (uint64_t row = 0; row < kRows; ++row) {
      if (isFirst[row]) {
        std::vector<float> exact = rowOf(type, sender, ids[row], step);
        std::copy(exact.begin(), exact.end(), before.begin() + int64_t(row * kRowElements));
        ++edge.firsts;
      }
      std::vector<float> &message = edge.messages[ids[row]];
      message.clear();
      for (uint64_t e = 0; e < kRowElements; ++e)
        message.push_back(kept(before[row * kRowElements + e], storage));
    }
    return narrow(type, before);
  }

  /// Returns a rank's position in the ring of a permutation, which begins with rank 0.
  static uint32_t encoderOf(uint32_t rank) { return rank; }

  static void runStep(cgx_context *context, uint64_t step, Bytes &rows, std::vector<int32_t> &ids) {
    (void)cgx_context_begin_step(context, step); // the step reports the error
    runOnce(context, rows, ids);
  }

  static void runOnce(cgx_context *context, Bytes &rows, std::vector<int32_t> &ids) {
    // The operand is in place, as in compiled steps.
    cgx_rt_operand(address(context), kId, 0, address(rows.data()), address(rows.data()));
    cgx_rt_operand(address(context), kId, 1, address(ids.data()), address(ids.data()));
    cgx_rt_run(address(context), kId);
  }

  Bytes rowsOf(cgx_element_type type, uint32_t rank, uint64_t step) const {
    std::vector<float> all;
    for (int32_t id : idsOf(rank, step)) {
      std::vector<float> row = rowOf(type, rank, id, step);
      all.insert(all.end(), row.begin(), row.end());
    }
    return narrow(type, all);
  }

  static constexpr uint32_t kId = 4;
  cgx_codec codec = quantize(3, 64);
};

TEST_P(PermuteChangesTest, WhatArrivesIsTheMessageOfTheDefinition) {
  for (cgx_element_type type : {CGX_F32, CGX_BF16, CGX_F16})
    for (const std::string storage : {"f32", "bf16"})
      runCollective(collective(type, storage), [&](cgx_context *context, uint32_t rank) {
        Edge in, out;
        for (uint64_t step = 0; step < kSteps; ++step) {
          Bytes rows = rowsOf(type, rank, step);
          std::vector<int32_t> ids = idsOf(rank, step);
          runStep(context, step, rows, ids);
          ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
          EXPECT_EQ(ids, idsOf(source(rank), step));
          EXPECT_TRUE(rows == expect(in, type, storage, source(rank), step))
              << "rank " << rank << ", step " << step;
          (void)expect(out, type, storage, rank, step);
        }
        const char *text = nullptr;
        ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
        const Json counted = Json::parse(text);
        const Json &operands = counted["collectives"][0]["operands"];
        const uint64_t leaves = ranks() > 1, row = kRowElements * cgx_element_bytes(type);
        EXPECT_EQ(operands[0]["first_visit_bytes"], leaves * out.firsts * row);
        EXPECT_EQ(operands[0]["wire_bytes"],
                  leaves *
                      (kSteps * cgx_payload_bytes(&codec, type, kRows * kRowElements) + out.firsts * row));
        EXPECT_EQ(operands[1]["wire_bytes"], leaves * kSteps * kRows * sizeof(int32_t));
        EXPECT_EQ(counted["transport_bytes"], counted["wire_bytes"]);
      });
}

/// In runs in which a pair does not take part, the target gets rows of zeros that belong to no sample, and
/// both ends keep their last messages.
TEST_P(PermuteChangesTest, PairsThatSendNothingInARunKeepTheirMessages) {
  const auto digitsOf = [](uint32_t rank) { return std::string(rank % 2 == 0 ? "101" : "110"); };
  Json json = collective(CGX_F32, "f32");
  json["sends"] = Json::array();
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    json["sends"].push_back(digitsOf(rank));
  runCollective(json, [&](cgx_context *context, uint32_t rank) {
    Edge in, out;
    for (uint64_t step = 0; step < 3; ++step) {
      (void)cgx_context_begin_step(context, step);
      for (uint64_t run = 0; run < 3; ++run) {
        const uint64_t message = 3 * step + run;
        Bytes rows = rowsOf(CGX_F32, rank, message);
        std::vector<int32_t> ids = idsOf(rank, message);
        runOnce(context, rows, ids);
        if (digitsOf(rank)[run] == '1')
          (void)expect(out, CGX_F32, "f32", rank, message, {step, run});
        if (digitsOf(source(rank))[run] == '1') {
          EXPECT_EQ(ids, idsOf(source(rank), message));
          EXPECT_TRUE(rows == expect(in, CGX_F32, "f32", source(rank), message, {step, run}))
              << "rank " << rank << ", step " << step << ", run " << run;
        } else {
          EXPECT_TRUE(rows == Bytes(rows.size())) << "rank " << rank << ", step " << step << ", run " << run;
          EXPECT_TRUE(std::all_of(ids.begin(), ids.end(), [](int32_t id) { return id < 0; }));
        }
      }
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    }
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
    const Json counted = Json::parse(text);
    const uint64_t leaves = ranks() > 1, sent = 3 * 2, elements = kRows * kRowElements;
    const Json &operands = counted["collectives"][0]["operands"];
    EXPECT_EQ(counted["collectives"][0]["runs"], 9);
    EXPECT_EQ(operands[0]["raw_bytes"], leaves * sent * elements * sizeof(float));
    EXPECT_EQ(operands[0]["wire_bytes"], leaves * (sent * cgx_payload_bytes(&codec, CGX_F32, elements) +
                                                   out.firsts * kRowElements * sizeof(float)));
    EXPECT_EQ(operands[1]["wire_bytes"], leaves * sent * kRows * sizeof(int32_t));
    EXPECT_EQ(counted["transport_bytes"], counted["wire_bytes"]);
  });
}

TEST_P(PermuteChangesTest, StateThatIsWrittenBackGoesOnWithTheSameBits) {
  for (const std::string storage : {"f32", "bf16"}) {
    auto states = std::make_shared<std::vector<std::vector<Bytes>>>(ranks());
    auto results = std::make_shared<std::vector<Bytes>>(ranks());
    runCollective(collective(CGX_F32, storage), [&](cgx_context *context, uint32_t rank) {
      uint64_t count = 0;
      ASSERT_EQ(cgx_context_state_count(context, &count), CGX_OK);
      EXPECT_EQ(count, 4u); // messages sent and received, and the samples in them
      for (uint64_t step = 0; step < kSteps; ++step) {
        if (step == kSteps / 2)
          for (uint64_t i = 0; i < count; ++i) {
            cgx_state_tensor tensor;
            ASSERT_EQ(cgx_context_state_tensor(context, i, &tensor), CGX_OK);
            const auto *data = static_cast<const std::byte *>(tensor.data);
            (*states)[rank].emplace_back(data,
                                         data + tensor.elements * cgx_element_bytes(tensor.element_type));
          }
        Bytes rows = rowsOf(CGX_F32, rank, step);
        std::vector<int32_t> ids = idsOf(rank, step);
        runStep(context, step, rows, ids);
        ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
        (*results)[rank] = rows;
      }
    });
    if (GetParam().processes) // the ranks' processes have ended, and their codec state with them
      continue;
    runCollective(collective(CGX_F32, storage), [&](cgx_context *context, uint32_t rank) {
      for (uint64_t i = 0; i < (*states)[rank].size(); ++i) {
        cgx_state_tensor tensor;
        ASSERT_EQ(cgx_context_state_tensor(context, i, &tensor), CGX_OK);
        std::memcpy(tensor.data, (*states)[rank][i].data(), (*states)[rank][i].size());
      }
      for (uint64_t step = kSteps / 2; step < kSteps; ++step) {
        Bytes rows = rowsOf(CGX_F32, rank, step);
        std::vector<int32_t> ids = idsOf(rank, step);
        runStep(context, step, rows, ids);
        ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
        if (step + 1 == kSteps) {
          EXPECT_TRUE(rows == (*results)[rank]) << "rank " << rank;
        }
      }
    });
  }
}

TEST_P(PermuteChangesTest, NotANumberIsSeenOnceAndDoesNotStay) {
  runCollective(collective(CGX_F32, "f32"), [&](cgx_context *context, uint32_t) {
    for (uint64_t step = 0; step < 4; ++step) {
      std::vector<float> values(kRows * kRowElements, float(step));
      const bool isBad = step == 0 || step == 2;
      if (isBad)
        values[7] = kNan;
      Bytes rows = narrow(CGX_F32, values);
      std::vector<int32_t> ids = {0, 1, 2, 3, 4};
      runStep(context, step, rows, ids);
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
      std::vector<float> got(values.size());
      std::memcpy(got.data(), rows.data(), rows.size());
      EXPECT_EQ(std::isnan(got[7]), isBad) << "step " << step;
      EXPECT_FALSE(std::isnan(got[kRowElements])) << "step " << step; // another row is unaffected
    }
  });
}

TEST_P(PermuteChangesTest, IdsThatAreNoneAreAnErrorOfEveryRank) {
  for (int32_t bad : {int32_t(kSamples), -1 - int32_t(kRows), std::numeric_limits<int32_t>::min()})
    runCollective(
        collective(CGX_F32, "f32"),
        [&](cgx_context *context, uint32_t rank) {
          Bytes rows = rowsOf(CGX_F32, rank, 0);
          std::vector<int32_t> ids = idsOf(rank, 0);
          ids[2] = bad;
          runStep(context, 0, rows, ids);
          EXPECT_NE(cgx_context_end_step(context), CGX_OK);
          const std::string message = cgx_last_error();
          EXPECT_NE(message.find("pipeline/forward"), std::string::npos) << message;
        },
        /*mayFail=*/true);
}

INSTANTIATE_TEST_SUITE_P(Settings, PermuteChangesTest, testing::ValuesIn(settings()), nameOf);

} // namespace
} // namespace cgx::test
