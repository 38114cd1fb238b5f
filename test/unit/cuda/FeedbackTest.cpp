//===-- FeedbackTest.cpp - Error feedback in encoders for GPUs ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests compare payloads and residuals of a few steps with those that the CPU computes from the same
// inputs, in the order of the runtime's own encoding.

#include "GroupFixture.h"

#include "state/Residual.h"

#include <cstring>

namespace cgx::test {
namespace {

/// A layer with a residual, on the device and on the CPU.
struct FedBack {
  Layer layer;
  ResidualStorage storage;
  float decay;
  Residual residual;
  std::vector<StateTensor> tensors; ///< the memory of the residual
  cuda::Feedback onDevice;

  /// Encodes elements in memory on the CPU, with error feedback.
  std::vector<uint8_t> encode(const std::vector<uint8_t> &input) {
    const uint64_t elements = layer.elements;
    std::vector<float> lost(elements), sent(elements);
    residual.load(0, lost);
    std::vector<float> sum = lost;
    EXPECT_EQ(decodeAccumulate({}, layer.type, input.data(), input.size(), elements, sum.data()),
              DecodeError::ok);
    std::vector<uint8_t> payload(layer.payloadBytes());
    payload.resize(encodeFromF32(layer.codec, layer.type, sum.data(), elements, layer.key(),
                                 layer.firstElement, payload.data(), defaultImplementation(),
                                 layer.optimizer()));
    EXPECT_EQ(
        decodeAccumulate(layer.codec, layer.type, payload.data(), payload.size(), elements, sent.data()),
        DecodeError::ok);
    for (uint64_t i = 0; i < elements; ++i)
      lost[i] = lossOf(sum[i], sent[i], decay, [&] { return lost[i]; });
    residual.store(0, lost);
    return payload;
  }
};

class FeedbackTest : public GroupFixture {
protected:
  std::vector<FedBack> fedBackGroup() {
    std::vector<FedBack> group;
    for (const Layer &layer : randomGroup())
      if (layer.codec.family != CGX_CODEC_IDENTITY) {
        const auto storage = ResidualStorage(random() % 3);
        FedBack &one = group.emplace_back(FedBack{
            layer, storage, random() % 2 ? 1.0f : 0.7f, Residual(storage, 0, layer.elements), {}, {}});
        one.residual.describe("", one.tensors);
        const auto tensor = [&](size_t i) {
          if (one.tensors.size() <= i)
            return static_cast<void *>(nullptr);
          return placeUnevenly(std::vector<uint8_t>(bytesOf(one.tensors[i])),
                               cgx_element_bytes(one.tensors[i].type));
        };
        one.onDevice = {storage, one.decay, tensor(0), static_cast<float *>(tensor(1))};
      }
    return group;
  }

  static uint64_t bytesOf(const StateTensor &tensor) {
    return tensor.elements * cgx_element_bytes(cgx_element_type(tensor.type));
  }

  void expectResidual(FedBack &of) {
    const void *memory[] = {of.onDevice.residual, of.onDevice.scales};
    for (size_t i = 0; i < of.tensors.size(); ++i) {
      const auto *expected = static_cast<const uint8_t *>(of.tensors[i].data);
      const uint64_t bytes = bytesOf(of.tensors[i]);
      ASSERT_EQ(device->fetch(memory[i], bytes), std::vector<uint8_t>(expected, expected + bytes))
          << "residual " << int(of.storage) << ", " << of.layer.describe();
    }
  }
};

TEST_P(FeedbackTest, EncodersAddResidualsAndKeepWhatIsLost) {
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<FedBack> group = fedBackGroup();
    std::vector<cuda::EncodeLayer> table;
    for (const FedBack &of : group) {
      table.push_back({of.layer.encoded(room(of.layer.payloadBytes())),
                       room(of.layer.elements * cgx_element_bytes(of.layer.type))});
      table.back().encoded.feedback = of.onDevice;
    }
    cuda::Outcome outcome;
    const auto encoders = device->makeEncode(table, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    for (int step = 0; step < 3; ++step) {
      std::vector<std::vector<uint8_t>> expected;
      for (size_t i = 0; i < group.size(); ++i) {
        const std::vector<uint8_t> input = toElements(group[i].layer.type, summand(group[i].layer));
        device->overwrite(const_cast<void *>(table[i].input), input);
        expected.push_back(group[i].encode(input));
      }
      ASSERT_NO_FATAL_FAILURE(run(*encoders));
      for (size_t i = 0; i < group.size(); ++i) {
        ASSERT_NO_FATAL_FAILURE(expectPayload(group[i].layer, table[i].encoded.payload, expected[i]));
        ASSERT_NO_FATAL_FAILURE(expectResidual(group[i]));
      }
    }
  }
}

TEST_P(FeedbackTest, OwnersAddResidualsToSums) {
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<FedBack> group = fedBackGroup();
    std::vector<cuda::OwnerLayer> table;
    std::vector<std::vector<uint8_t>> expected;
    for (FedBack &of : group) {
      const Layer &layer = of.layer;
      cuda::OwnerLayer &owner = table.emplace_back();
      owner.encoded = layer.encoded(room(layer.payloadBytes()));
      owner.encoded.feedback = of.onDevice;
      owner.divisor = 3;
      std::vector<float> sum(layer.elements, cgx_codec_is_exact(&layer.codec) ? -0.0f : 0.0f);
      for (int rank = 0; rank < 3; ++rank) {
        const auto payload = expectedPayload(layer, toElements(layer.type, summand(layer)));
        ASSERT_EQ(decodeAccumulate(layer.codec, layer.type, payload.data(), payload.size(), layer.elements,
                                   sum.data()),
                  DecodeError::ok);
        owner.contributions.push_back(place(padded(layer, payload)));
      }
      for (float &value : sum)
        value /= 3.0f;
      expected.push_back(of.encode(toElements(layer.type, sum)));
    }
    cuda::Outcome outcome;
    const auto owners = device->makeOwner(table, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    ASSERT_NO_FATAL_FAILURE(run(*owners));
    for (size_t i = 0; i < group.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(expectPayload(group[i].layer, table[i].encoded.payload, expected[i]));
      ASSERT_NO_FATAL_FAILURE(expectResidual(group[i]));
    }
  }
}

TEST_P(FeedbackTest, ResidualsStayWhereAContributionIsRefused) {
  for (uint32_t family :
       {CGX_CODEC_QUANTIZE, CGX_CODEC_SIGN, CGX_CODEC_TOPK, CGX_CODEC_LOSSLESS, CGX_CODEC_GCOMP}) {
    Layer layer = randomLayer(family);
    layer.elements = 5003;
    layer.codec.checksum = 0;
    if (layer.lent)
      layer.lent = lend(layer); // for the new number of elements
    const std::vector<uint8_t> before(layer.elements * sizeof(float), 0x11);
    std::vector<uint8_t> payload = expectedPayload(layer, toElements(layer.type, summand(layer)));
    payload[0] ^= 1;
    cuda::OwnerLayer owner = {layer.encoded(room(layer.payloadBytes())), {place(padded(layer, payload))}};
    owner.encoded.feedback.residual = place(before);
    cuda::Outcome outcome;
    const auto owners = device->makeOwner({&owner, 1}, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    ASSERT_NO_FATAL_FAILURE(run(*owners));
    const std::vector<DecodeError> found = resultsOf(*owners);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(int(found[0]), int(DecodeError::badMagic));
    EXPECT_EQ(device->fetch(owner.encoded.feedback.residual, before.size()), before) << layer.describe();
    EXPECT_EQ(device->fetch(owner.encoded.payload, 8), std::vector<uint8_t>(8, 0xcd)) << layer.describe();
  }
}

TEST_P(FeedbackTest, SaysWhatIsWrongWithAResidual) {
  const Layer layer = {quantizeCodec(4, 128), CGX_F32, 100, 0, 0, 0, 0};
  const auto errorOf = [&](const Layer &of, cuda::Feedback feedback) {
    cuda::EncodeLayer wrong = {of.encoded(room(of.payloadBytes())), room(400)};
    wrong.encoded.feedback = feedback;
    cuda::Outcome outcome;
    EXPECT_EQ(device->makeEncode({&wrong, 1}, outcome), nullptr);
    return outcome.error;
  };
  auto *residual = static_cast<uint8_t *>(room(408));
  EXPECT_EQ(errorOf(layer, {.residual = residual + 2}),
            "layer 0: expected its residual aligned to 4 bytes, got an address 2 behind");
  EXPECT_EQ(errorOf(layer, {.storage = ResidualStorage::Int8, .residual = residual}),
            "layer 0: expected a pointer to its residual's scales, got null");
  EXPECT_EQ(errorOf({{}, CGX_F32, 100, 0, 0, 0, 0}, {.residual = residual}),
            "layer 0: expected no residual with the codec identity, which loses nothing");
}

INSTANTIATE_TEST_SUITE_P(On, FeedbackTest, testing::Values(makeEmulation, makeThreads, makeGpu),
                         [](const auto &info) { return info.param()->name(); });

} // namespace
} // namespace cgx::test
