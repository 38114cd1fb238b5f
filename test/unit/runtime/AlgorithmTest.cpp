//===-- AlgorithmTest.cpp - Every algorithm against its model -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ring, tree and hierarchies, with the bits of their models and the bytes of their formulas.
//
//===----------------------------------------------------------------------===//

#include "CollectiveFixture.h"
#include "cgx/manifest/schedule_json.h"
#include "cgx/wire.h"

namespace cgx::test {
namespace {

class AlgorithmTest : public CollectiveFixture {};

TEST_P(AlgorithmTest, ExactAllReduceByEveryAlgorithm) {
  for (const char *reduction : {"sum", "mean", "max"})
    for (uint64_t size : {1, 1000}) {
      std::vector<OperandSpec> operands;
      for (int type = 0; type < CGX_ELEMENT_TYPE_COUNT; ++type)
        if (std::string(reduction) != "mean" || type <= CGX_F64)
          operands.push_back({.type = cgx_element_type(type), .shape = {uint64_t(size)}});
      addByEveryAlgorithm(operands, reduction);
    }
  runAndCompare();
}

TEST_P(AlgorithmTest, CompressedAllReduceByEveryAlgorithm) {
  for (const char *reduction : {"sum", "mean"}) {
    std::vector<OperandSpec> operands = {{.type = CGX_F32, .shape = {7}},
                                         {.shape = {0}, .codec = quantize(4, 128)}};
    for (const cgx_codec &codec : codecs())
      for (cgx_element_type type : kFloats)
        for (uint64_t size : {1, 5003})
          operands.push_back({.type = type, .shape = {uint64_t(size)}, .codec = codec});
    addByEveryAlgorithm(operands, reduction);
  }
  runAndCompare();
}

TEST_P(AlgorithmTest, EveryAlgorithmOfManyPiecesAndUnevenGroups) {
  addByEveryAlgorithm({{.shape = {ranks() * 33001}, .codec = quantize(4, 100)},
                       {.type = CGX_BF16, .shape = {ranks() * 20001}}},
                      "mean");
  for (const char *algorithm : {"ring", "tree"})
    addByHops(algorithm, unevenGroups(ranks()),
              {{.shape = {1000}}, {.shape = {1000}, .codec = quantize(4, 128)}}, "sum");
  runAndCompare();
}

TEST_P(AlgorithmTest, BytesOfEveryAlgorithmEqualTheFormula) {
  std::vector<OperandSpec> operands = {{.shape = {70001}, .codec = quantize(4, 128)},
                                       {.type = CGX_BF16, .shape = {333}}};
  addByEveryAlgorithm(operands, "sum");
  runJob([&](cgx_context *context, uint32_t rank) {
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    for (const Case &one : cases) {
      std::vector<Bytes> outputs;
      execute(context, one, rank, outputs);
    }
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_telemetry(context, &text), CGX_OK);
    Json counted = Json::parse(text)["collectives"];
    for (size_t c = 0; c < cases.size(); ++c) {
      cgx_schedule schedule{};
      ASSERT_EQ(readSchedule(cases[c].json, schedule), "");
      for (size_t i = 0; i < operands.size(); ++i) {
        const OperandSpec &operand = operands[i];
        cgx_codec exact{};
        auto bytes = [&](const cgx_codec &codec) {
          return cgx_scheduled_wire_bytes(&schedule, &codec, operand.type, operand.elements(), ranks(), rank);
        };
        EXPECT_EQ(counted[c]["operands"][i]["wire_bytes"], bytes(operand.codec)) << cases[c].json;
        EXPECT_EQ(counted[c]["operands"][i]["raw_bytes"], bytes(exact)) << cases[c].json;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, AlgorithmTest, testing::ValuesIn(settings()), nameOf);

} // namespace
} // namespace cgx::test
