//===-- ReduceTest.cpp - Payloads added up to elements, against the CPU ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupFixture.h"

#include "cgx/kernels/reduce.h"

namespace cgx::test {
namespace {

class ReduceTest : public GroupFixture {
protected:
  static void add(const cgx_codec &codec, const Layer &layer, const std::vector<uint8_t> &payload,
                  std::vector<float> &sum) {
    ASSERT_EQ(decodeAccumulate(codec, layer.type, payload.data(), payload.size(), layer.elements, sum.data()),
              DecodeError::ok);
  }

  /// Returns a layer with contributions of `ranks` ranks, some draws also with own elements, and the result
  /// of the CPU.
  cuda::ReduceLayer makeLayer(const Layer &layer, uint32_t ranks, std::vector<uint8_t> &expected) {
    cuda::ReduceLayer reduced = {layer.codec, layer.type, layer.elements};
    reduced.divisor = random() % 2 ? 1 : 3;
    const bool isExact = cgx_codec_is_exact(&layer.codec);
    std::vector<float> sum(layer.elements, isExact ? -0.0f : 0.0f);
    if (random() % 2) {
      const std::vector<uint8_t> own = toElements(layer.type, summand(layer));
      if (layer.type == CGX_F32 && layer.elements != 0)
        memcpy(sum.data(), own.data(), own.size());
      else
        add(cgx_codec{}, layer, own, sum);
      reduced.own = placeUnevenly(own, cgx_element_bytes(layer.type));
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const auto payload = expectedPayload(layer, toElements(layer.type, summand(layer)));
      add(layer.codec, layer, payload, sum);
      reduced.contributions.push_back(place(padded(layer, payload)));
    }
    for (float &value : sum)
      value = reduced.divisor == 1 ? value : value / float(reduced.divisor);
    expected = toElements(layer.type, sum);
    reduced.output =
        placeUnevenly(std::vector<uint8_t>(expected.size(), 0xcd), cgx_element_bytes(layer.type));
    return reduced;
  }
};

TEST_P(ReduceTest, AddsContributionsUpToElements) {
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<Layer> layers = randomGroup();
    std::vector<cuda::ReduceLayer> table;
    std::vector<std::vector<uint8_t>> expected(layers.size());
    for (size_t i = 0; i < layers.size(); ++i)
      table.push_back(makeLayer(layers[i], 1 + uint32_t(draw % 4), expected[i]));
    cuda::Outcome outcome;
    const auto group = device->makeReduce(table, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    for (int repetition = 0; repetition < 2; ++repetition)
      ASSERT_NO_FATAL_FAILURE(run(*group));
    for (DecodeError error : resultsOf(*group))
      ASSERT_EQ(error, DecodeError::ok);
    for (size_t i = 0; i < layers.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expectSums(table[i].output, layers[i].type, expected[i], layers[i].describe()));
  }
}

TEST_P(ReduceTest, KnowsTheReductionsOfTheCpu) {
  for (ReduceOp reduction : {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::product})
    for (cgx_element_type type : {CGX_F32, CGX_F16, CGX_BF16}) {
      const Layer layer = {{}, type, 1001, 0, 0, 0, 0};
      const bool hasNans = reduction == ReduceOp::max || reduction == ReduceOp::min;
      cuda::ReduceLayer reduced = {layer.codec, type, layer.elements};
      reduced.reduction = reduction;
      std::vector<float> expected(layer.elements);
      for (uint32_t rank = 0; rank < 3; ++rank) {
        std::vector<uint8_t> elements =
            toElements(type, makeFloats(hasNans ? Shape::poisoned : Shape::gradient, layer.elements, random));
        std::vector<float> wide(layer.elements, -0.0f);
        add(layer.codec, layer, elements, wide);
        if (rank == 0)
          expected = wide;
        else
          reduce(reduction, CGX_F32, expected.data(), wide.data(), layer.elements);
        reduced.contributions.push_back(place(elements));
      }
      const std::vector<uint8_t> elements = toElements(type, expected);
      reduced.output = room(elements.size());
      cuda::Outcome outcome;
      const auto group = device->makeReduce({&reduced, 1}, outcome);
      ASSERT_TRUE(outcome.ok()) << outcome.error;
      ASSERT_NO_FATAL_FAILURE(run(*group));
      EXPECT_EQ(device->fetch(reduced.output, elements.size()), elements)
          << "reduction " << int(reduction) << ", type " << type << ", CGX_TEST_SEED=" << testSeed();
    }
}

TEST_P(ReduceTest, WritesNothingOfWhatIsRefused) {
  for (int draw = 0; draw < draws; ++draw) {
    const Layer layer = randomLayer(families[1 + random() % (std::size(families) - 1)]);
    std::vector<uint8_t> good = expectedPayload(layer, toElements(layer.type, summand(layer))), bad = good;
    bad[random() % sizeof(PayloadHeader)] ^= uint8_t(1 + random() % 255);
    const std::vector<uint8_t> before(layer.elements * cgx_element_bytes(layer.type), 0xcd);
    cuda::ReduceLayer reduced = {layer.codec, layer.type, layer.elements};
    reduced.contributions = {place(padded(layer, good)), place(padded(layer, bad))};
    reduced.output = place(before);
    cuda::Outcome outcome;
    const auto group = device->makeReduce({&reduced, 1}, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    ASSERT_NO_FATAL_FAILURE(run(*group));
    const std::vector<DecodeError> found = resultsOf(*group);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0], DecodeError::ok) << layer.describe();
    EXPECT_NE(found[1], DecodeError::ok) << layer.describe();
    EXPECT_EQ(device->fetch(reduced.output, before.size()), before) << layer.describe();
  }
}

TEST_P(ReduceTest, SaysWhatIsWrongWithALayer) {
  const auto errorOf = [&](const cuda::ReduceLayer &layer) {
    cuda::Outcome outcome;
    const auto group = device->makeReduce({&layer, 1}, outcome);
    EXPECT_EQ(group == nullptr, !outcome.ok());
    return outcome.error;
  };
  auto *memory = static_cast<uint8_t *>(room(4096));
  cuda::ReduceLayer layer = {quantizeCodec(4, 128), CGX_F32, 100,   {memory}, 1,
                             ReduceOp::sum,         nullptr, memory};
  EXPECT_EQ(errorOf(layer), "");
  layer.reduction = ReduceOp::max;
  EXPECT_EQ(errorOf(layer), "layer 0: expected the codec identity for a reduction that is no sum");
  layer.reduction = ReduceOp::sum;
  layer.output = memory + 2;
  EXPECT_EQ(errorOf(layer), "layer 0: expected its output aligned to 4 bytes, got an address 2 behind");
  layer.contributions = {memory + 4};
  EXPECT_EQ(errorOf(layer), "layer 0: expected its contribution aligned to 8 bytes, got an address 4 behind");
}

INSTANTIATE_TEST_SUITE_P(On, ReduceTest, testing::Values(makeEmulation, makeThreads, makeGpu),
                         [](const auto &info) { return info.param()->name(); });

} // namespace
} // namespace cgx::test
