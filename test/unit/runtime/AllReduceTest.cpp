//===-- AllReduceTest.cpp - All-reduces against their model ---------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests the default algorithm: types, reductions, codecs, sizes, groups, and both forms of the
// program.
//
//===----------------------------------------------------------------------===//

#include "CollectiveFixture.h"
#include "cgx/wire.h"

namespace cgx::test {
namespace {

class AllReduceTest : public CollectiveFixture {};

/// The explicit form compresses in a group of one rank and the usual form does not, so groups have two ranks
/// or more.
class ExplicitAllReduceTest : public CollectiveFixture {};

TEST_P(AllReduceTest, ExactAllReduceOfEveryTypeAndReduction) {
  for (const char *reduction : {"sum", "mean", "max", "min", "product"})
    for (uint64_t size : kSizes) {
      std::vector<OperandSpec> operands;
      for (int type = 0; type < CGX_ELEMENT_TYPE_COUNT; ++type)
        if (std::string(reduction) != "mean" || type <= CGX_F64)
          operands.push_back({.type = cgx_element_type(type), .shape = {size}});
      addAllReduce(everybody(ranks()), operands, reduction);
    }
  runAndCompare();
}

TEST_P(AllReduceTest, CompressedAllReduceOfEveryCodec) {
  for (const char *reduction : {"sum", "mean"})
    for (uint64_t size : kSizes)
      for (const cgx_codec &codec : codecs()) {
        std::vector<OperandSpec> operands;
        for (cgx_element_type type : kFloats)
          operands.push_back({.type = type, .shape = {size}, .codec = codec});
        operands.push_back({.type = CGX_F32, .shape = {7}});
        addAllReduce(everybody(ranks()), operands, reduction);
      }
  runAndCompare();
}

TEST_P(AllReduceTest, AnExactCodecGivesTheBitsOfRawElements) {
  for (const char *reduction : {"max", "min", "product", "sum", "mean"})
    for (uint64_t size : {uint64_t(7), uint64_t(1000), uint64_t(33000) * ranks()}) {
      std::vector<OperandSpec> operands;
      for (cgx_element_type type : kFloats)
        operands.push_back({.type = type, .shape = {size}, .codec = kLossless});
      addAllReduce(everybody(ranks()), operands, reduction);
    }
  runAndCompare();
}

// Every codec is combined with every return codec, identity included.
TEST_P(AllReduceTest, WithAnotherCodecOnTheWayBack) {
  std::vector<cgx_codec> all = codecs();
  all.push_back({});
  for (uint64_t size : {uint64_t(1), uint64_t(129), uint64_t(3001)})
    for (size_t there = 0; there < all.size(); ++there)
      for (size_t step : {1, 4}) {
        std::vector<OperandSpec> operands;
        for (cgx_element_type type : kFloats)
          operands.push_back(
              {.type = type, .shape = {size}, .codec = all[there], .back = all[(there + step) % all.size()]});
        operands.push_back({.shape = {7}});
        addAllReduce(everybody(ranks()), operands, "mean");
      }
  runAndCompare();
}

TEST_P(AllReduceTest, LargerThanAnyRing) {
  addAllReduce(everybody(ranks()), {{.shape = {300001}}, {.shape = {300001}, .codec = quantize(8, 512)}},
               "sum");
  runAndCompare();
}

// First, chunks have several segments, and one segment has many operands; then operands grow, so that memory
// is reused.
TEST_P(AllReduceTest, OfManyPieces) {
  std::vector<OperandSpec> operands = {
      {.shape = {ranks() * 33001}, .codec = quantize(4, 100)},
      {.type = CGX_BF16, .shape = {3}},
      {.type = CGX_F16, .shape = {ranks() * 33000 + 7}, .codec = quantize(8, 512, CGX_ROUND_NEAREST)},
      {.shape = {0}},
      {.shape = {1}, .codec = quantize(2, 128)},
      {.type = CGX_F16, .shape = {ranks() * 20001}},
      {.shape = {ranks() * 9000}}};
  addAllReduce(everybody(ranks()), operands, "mean");
  operands.erase(operands.begin(), operands.begin() + 3);
  for (uint64_t i = 0; i < 40; ++i)
    operands.push_back({.shape = {17 * i % 91}, .codec = i % 3 == 0 ? quantize(4, 128) : cgx_codec{}});
  addAllReduce(everybody(ranks()), operands, "sum");
  runAndCompare();
}

TEST_P(AllReduceTest, OfUnevenGroups) {
  addAllReduce(unevenGroups(ranks()), {{.shape = {1000}}, {.shape = {1000}, .codec = quantize(4, 128)}},
               "sum");
  addAllReduce({{ranks() - 1, 0}}, {{.shape = {1000}, .codec = quantize(4, 128)}},
               "mean"); // the other ranks are in no group
  if (ranks() == 1)
    cases.pop_back();
  runAndCompare();
}

// A loop runs a collective several times per step. With equal random numbers, the errors of its runs would
// add up.
TEST_P(AllReduceTest, EachRunInAStepRoundsAnew) {
  OperandSpec operand{.shape = {1000}, .codec = quantize(2, 128)};
  addAllReduce(everybody(ranks()), {operand}, "sum");
  uint32_t id = cases[0].json["id"];
  Case second = cases[0];
  second.expected[0] = modelAllReduce(cases[0].inputs[0], everybody(ranks()), operand, "sum",
                                      {.seed = kSeed, .layerId = uint64_t(id) * 16, .runs = 1});
  EXPECT_EQ(second.expected == cases[0].expected, ranks() == 1);
  runJob([&](cgx_context *context, uint32_t rank) {
    for (uint64_t repetition = 0; repetition < 2; ++repetition) { // the next step starts from the beginning
      ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK) << cgx_last_error();
      std::vector<Bytes> outputs, secondOutputs;
      execute(context, cases[0], rank, outputs);
      execute(context, second, rank, secondOutputs);
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
      expectModel(cases[0], rank, outputs);
      expectModel(second, rank, secondOutputs);
    }
  });
}

TEST_P(AllReduceTest, InPlace) {
  addAllReduce(
      everybody(ranks()),
      {{.shape = {1000}}, {.type = CGX_BF16, .shape = {77}}, {.shape = {1000}, .codec = quantize(4, 128)}},
      "sum");
  addByEveryAlgorithm(std::vector(cases[0].operands), "sum");
  runJob([&](cgx_context *context, uint32_t rank) {
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    std::vector<std::vector<Bytes>> tensors(cases.size());
    for (size_t c = 0; c < cases.size(); ++c) {
      int64_t id = cases[c].json["id"];
      for (const PerRank &input : cases[c].inputs)
        tensors[c].push_back(input[rank]);
      for (size_t i = 0; i < tensors[c].size(); ++i)
        cgx_rt_operand(address(context), id, int64_t(i), address(tensors[c][i].data()),
                       address(tensors[c][i].data()));
      cgx_rt_run(address(context), id);
    }
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    for (size_t c = 0; c < cases.size(); ++c)
      expectModel(cases[c], rank, tensors[c]);
  });
}

TEST_P(ExplicitAllReduceTest, ExplicitFormGivesTheBitsOfRun) {
  std::vector<uint64_t> sizes = kSizes;
  // More than one segment per chunk, which takes most of the test's time.
  sizes.insert(sizes.begin(), ranks() * 40000 + 1);
  for (const char *reduction : {"sum", "mean"})
    for (uint64_t size : std::span(sizes).subspan(reduction == std::string("sum") ? 0 : 1))
      for (cgx_element_type type : kFloats)
        addAllReduce(
            everybody(ranks()),
            {{.type = type, .shape = {size}, .codec = quantize(4, 128)},
             {.type = type, .shape = {size}},
             {.type = type, .shape = {size}, .codec = quantize(3, 100, CGX_ROUND_NEAREST)},
             {.type = type, .shape = {size}, .codec = {.family = CGX_CODEC_THRESHOLD, .threshold = 0.5f}},
             {.type = type, .shape = {size}, .codec = kLossless}},
            reduction);
  runJob([&](cgx_context *context, uint32_t rank) {
    ASSERT_EQ(cgx_context_begin_step(context, 0), CGX_OK);
    std::vector<std::vector<Bytes>> outputs(cases.size());
    for (size_t c = 0; c < cases.size(); ++c)
      for (size_t i = 0; i < cases[c].operands.size(); ++i) {
        const OperandSpec &operand = cases[c].operands[i];
        int64_t id = int64_t(cases[c].json["id"]), self = address(context), number = int64_t(i);
        uint64_t elements = operand.elements(), whole = 0;
        auto chunkElements = [&](uint64_t chunk) {
          return cgx_chunk_begin(&operand.codec, elements, ranks(), chunk + 1) -
                 cgx_chunk_begin(&operand.codec, elements, ranks(), chunk);
        };
        for (uint64_t chunk = 0; chunk < ranks(); ++chunk)
          whole += cgx_chunk_payload_bytes(&operand.codec, operand.type, elements, ranks(), chunk);
        uint64_t slot = cgx_chunk_payload_bytes(&operand.codec, operand.type, elements, ranks(), 0);
        // The buffers have exactly the documented sizes, so that the address sanitizer sees one byte too
        // many.
        Bytes contribution(whole), slots(ranks() * slot), payload(slot), gathered(whole);
        Bytes chunk(chunkElements(0) * cgx_element_bytes(operand.type));
        Bytes &output = outputs[c].emplace_back(cases[c].expected[i][rank].size());
        cgx_rt_compress(self, id, number, 0, address(cases[c].inputs[i][rank].data()),
                        address(contribution.data()));
        cgx_rt_payload_all_to_all(self, id, number, address(contribution.data()), address(slots.data()));
        cgx_rt_decompress_accumulate(self, id, number, address(slots.data()), address(chunk.data()));
        cgx_rt_compress(self, id, number, 1, address(chunk.data()), address(payload.data()));
        cgx_rt_payload_all_gather(self, id, number, address(payload.data()), address(gathered.data()));
        cgx_rt_decompress(self, id, number, address(gathered.data()), address(output.data()));
      }
    ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    for (size_t c = 0; c < cases.size(); ++c)
      expectModel(cases[c], rank, outputs[c]);
  });
}

std::vector<Setting> severalRanks() {
  std::vector<Setting> all = settings();
  std::erase_if(all, [](const Setting &each) { return each.ranks == 1; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Settings, AllReduceTest, testing::ValuesIn(settings()), nameOf);
INSTANTIATE_TEST_SUITE_P(Settings, ExplicitAllReduceTest, testing::ValuesIn(severalRanks()), nameOf);
// There are none under mpirun with one rank.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExplicitAllReduceTest);

} // namespace
} // namespace cgx::test
