//===-- GatherChangesTest.cpp - Gathers that send changes of weights ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests the differences of weights over several steps, of a gather that runs twice in each. The
// test computes the results of all ranks from the definition.
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

constexpr uint64_t kRows = 3, kColumns = 130, kElements = kRows * kColumns, kRuns = 2, kSteps = 5;

class GatherChangesTest : public CollectiveFixture {
protected:
  Json collective(cgx_element_type type, const std::string &storage, uint64_t dim) const {
    OperandSpec weight{.type = type, .shape = {kRows, kColumns}, .codec = codec, .layer = "w"},
        other{.type = CGX_F32, .shape = {kRows, kColumns}, .layer = "scale"};
    Json json = collectiveJson(kId, "all_gather", everybody(ranks()), {weight, other}, {{"dim", dim}});
    json["operands"][0]["codec"]["delta"] = storage;
    json["operands"][0]["codec"]["samples"] = kRuns;
    return json;
  }

  /// Returns the part of a rank, which changes little from step to step, as elements of `type`.
  static Bytes partOf(cgx_element_type type, uint32_t rank, uint64_t run, uint64_t step) {
    std::vector<float> values(kElements);
    for (uint64_t e = 0; e < kElements; ++e)
      values[e] = std::sin(float(rank * 31 + run * 7 + e)) + 0.01f * float(step) * std::cos(float(e));
    values[3] = -0.0f;
    if (step == 2)
      values[5] = std::numeric_limits<float>::infinity();
    Bytes bytes(kElements * cgx_element_bytes(type));
    encodeFromF32(cgx_codec{}, type, values.data(), kElements, {}, 0, bytes.data());
    return bytes;
  }
  static std::vector<float> widened(cgx_element_type type, const Bytes &bytes) {
    std::vector<float> values(kElements, -0.0f);
    (void)decodeAccumulate(cgx_codec{}, type, bytes.data(), bytes.size(), kElements, values.data());
    return values;
  }

  /// Returns what all ranks get of a rank's part; `message` is their last copy of it.
  Bytes expectPart(std::vector<float> &message, cgx_element_type type, const std::string &storage,
                   uint32_t rank, uint64_t run, uint64_t step) const {
    const Bytes exact = partOf(type, rank, run, step);
    const std::vector<float> part = widened(type, exact);
    const bool isFirst = message.empty();
    message.resize(kElements);
    std::vector<float> after = message, change(kElements);
    if (isFirst)
      after = part;
    else {
      for (uint64_t e = 0; e < kElements; ++e)
        change[e] = part[e] - message[e];
      Bytes payload(cgx_payload_bytes(&codec, type, kElements));
      encodeFromF32(codec, type, change.data(), kElements,
                    makeRandomKey(kSeed, step, uint64_t(kId) * 16, rank, 2 * run), 0, payload.data());
      EXPECT_EQ(decodeAccumulate(codec, type, payload.data(), payload.size(), kElements, after.data()),
                DecodeError::ok);
    }
    for (uint64_t e = 0; e < kElements; ++e)
      if (std::isfinite(after[e]))
        message[e] = storage == "bf16" ? floatFromBfloat16(keepAsBf16(after[e])) : after[e];
    Bytes bytes(exact.size());
    encodeFromF32(cgx_codec{}, type, after.data(), kElements, {}, 0, bytes.data());
    return bytes;
  }

  /// Returns the parts side by side along `dim`.
  static Bytes concatenated(const std::vector<Bytes> &parts, uint64_t dim, uint64_t elementBytes) {
    Bytes whole;
    const uint64_t pieces = dim == 0 ? 1 : kRows, bytes = kElements / pieces * elementBytes;
    for (uint64_t piece = 0; piece < pieces; ++piece)
      for (const Bytes &part : parts)
        whole.insert(whole.end(), part.begin() + int64_t(piece * bytes),
                     part.begin() + int64_t((piece + 1) * bytes));
    return whole;
  }

  /// Returns a rank's results in each run of a step.
  std::vector<Bytes> runStep(cgx_context *context, cgx_element_type type, uint32_t rank,
                             uint64_t step) const {
    EXPECT_EQ(cgx_context_begin_step(context, step), CGX_OK);
    std::vector<Bytes> results;
    for (uint64_t run = 0; run < kRuns; ++run) {
      Bytes part = partOf(type, rank, run, step), other = partOf(CGX_F32, rank, run, step);
      Bytes &whole = results.emplace_back(ranks() * part.size());
      Bytes others(ranks() * other.size());
      cgx_rt_operand(address(context), kId, 0, address(part.data()), address(whole.data()));
      cgx_rt_operand(address(context), kId, 1, address(other.data()), address(others.data()));
      cgx_rt_run(address(context), kId);
    }
    EXPECT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    return results;
  }

  static constexpr uint32_t kId = 4;
  cgx_codec codec = quantize(4, 64);
};

TEST_P(GatherChangesTest, AllGetTheMessagesOfTheDefinition) {
  for (cgx_element_type type : {CGX_F32, CGX_BF16, CGX_F16})
    for (const std::string storage : {"f32", "bf16"})
      for (uint64_t dim : {0, 1})
        runCollective(collective(type, storage, dim), [&](cgx_context *context, uint32_t rank) {
          std::map<std::pair<uint64_t, uint32_t>, std::vector<float>> messages;
          for (uint64_t step = 0; step < kSteps; ++step) {
            const std::vector<Bytes> results = runStep(context, type, rank, step);
            for (uint64_t run = 0; run < kRuns; ++run) {
              std::vector<Bytes> parts;
              for (uint32_t sender = 0; sender < ranks(); ++sender)
                parts.push_back(ranks() == 1
                                    ? partOf(type, sender, run, step)
                                    : expectPart(messages[{run, sender}], type, storage, sender, run, step));
              EXPECT_TRUE(results[run] == concatenated(parts, dim, cgx_element_bytes(type)))
                  << "rank " << rank << ", step " << step << ", run " << run;
            }
          }
          const char *text = nullptr;
          ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
          const Json counted = Json::parse(text);
          const Json &operand = counted["collectives"][0]["operands"][0];
          const uint64_t others = ranks() - 1, first = others * kRuns * kElements * cgx_element_bytes(type);
          EXPECT_EQ(operand["first_visit_bytes"], first);
          EXPECT_EQ(operand["wire_bytes"],
                    first + others * kRuns * kSteps * cgx_payload_bytes(&codec, type, kElements));
          EXPECT_EQ(counted["transport_bytes"], counted["wire_bytes"]);
        });
}

TEST_P(GatherChangesTest, StateThatIsWrittenBackGoesOnWithTheSameBits) {
  if (GetParam().processes) // the ranks' processes have ended, and their codec state with them
    return;
  auto states = std::make_shared<std::vector<std::vector<Bytes>>>(ranks());
  auto results = std::make_shared<std::vector<std::vector<Bytes>>>(ranks());
  runCollective(collective(CGX_F32, "bf16", 0), [&](cgx_context *context, uint32_t rank) {
    uint64_t count = 0;
    ASSERT_EQ(cgx_context_state_count(context, &count), CGX_OK);
    EXPECT_EQ(count, ranks() == 1 ? 0u : 2u); // the messages, and the samples in them
    for (uint64_t step = 0; step < kSteps; ++step) {
      if (step == kSteps / 2)
        for (uint64_t i = 0; i < count; ++i) {
          cgx_state_tensor tensor;
          ASSERT_EQ(cgx_context_state_tensor(context, i, &tensor), CGX_OK);
          const auto *data = static_cast<const std::byte *>(tensor.data);
          (*states)[rank].emplace_back(data, data + tensor.elements * cgx_element_bytes(tensor.element_type));
        }
      (*results)[rank] = runStep(context, CGX_F32, rank, step);
    }
  });
  runCollective(collective(CGX_F32, "bf16", 0), [&](cgx_context *context, uint32_t rank) {
    for (uint64_t i = 0; i < (*states)[rank].size(); ++i) {
      cgx_state_tensor tensor;
      ASSERT_EQ(cgx_context_state_tensor(context, i, &tensor), CGX_OK);
      std::memcpy(tensor.data, (*states)[rank][i].data(), (*states)[rank][i].size());
    }
    std::vector<Bytes> got;
    for (uint64_t step = kSteps / 2; step < kSteps; ++step)
      got = runStep(context, CGX_F32, rank, step);
    EXPECT_TRUE(got == (*results)[rank]) << "rank " << rank;
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, GatherChangesTest, testing::ValuesIn(settings()), nameOf);

} // namespace
} // namespace cgx::test
