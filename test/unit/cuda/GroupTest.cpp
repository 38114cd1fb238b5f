//===-- GroupTest.cpp - The kernels for GPUs against the codecs of the CPU ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every test draws groups of layers, of any family and parameters, lengths and inputs, and compares all bytes
// with those of the CPU.

#include "GroupFixture.h"

namespace cgx::test {
namespace {

class GroupTest : public GroupFixture {};

TEST_P(GroupTest, EncodesTensorsToTheBitsOfTheCpu) {
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<Layer> layers = randomGroup();
    std::vector<cuda::EncodeLayer> table;
    std::vector<std::vector<uint8_t>> expected;
    for (const Layer &layer : layers) {
      const std::vector<uint8_t> input = toElements(layer.type, randomFloats(layer.elements));
      expected.push_back(expectedPayload(layer, input));
      void *payload = placeUnevenly(std::vector<uint8_t>(layer.payloadBytes(), 0xcd), 8);
      table.push_back({layer.encoded(payload), placeUnevenly(input, cgx_element_bytes(layer.type))});
    }
    cuda::Outcome outcome;
    const auto group = device->makeEncode(table, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    for (int repetition = 0; repetition < 2; ++repetition)
      ASSERT_NO_FATAL_FAILURE(run(*group));
    for (size_t i = 0; i < layers.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expectPayload(layers[i], table[i].encoded.payload, expected[i]));
  }
}

TEST_P(GroupTest, EncodesSumsToTheBitsOfTheCpu) {
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<Layer> layers = randomGroup();
    std::vector<cuda::EncodeLayer> table;
    std::vector<std::vector<uint8_t>> expected;
    for (const Layer &layer : layers) {
      const std::vector<float> input = randomFloats(layer.elements);
      std::vector<uint8_t> &payload = expected.emplace_back(layer.payloadBytes());
      payload.resize(encodeFromF32(layer.codec, layer.type, input.data(), layer.elements, layer.key(),
                                   layer.firstElement, payload.data(), defaultImplementation(),
                                   layer.optimizer()));
      table.push_back({layer.encoded(room(layer.payloadBytes())), placeValues(input), /*isSum=*/true});
    }
    cuda::Outcome outcome;
    const auto group = device->makeEncode(table, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    ASSERT_NO_FATAL_FAILURE(run(*group));
    for (size_t i = 0; i < layers.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expectPayload(layers[i], table[i].encoded.payload, expected[i]));
  }
}

TEST_P(GroupTest, DecodesToTheBitsOfTheCpu) {
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<Layer> layers = randomGroup();
    std::vector<cuda::DecodeLayer> table;
    std::vector<std::vector<uint8_t>> expected;
    for (const Layer &layer : layers) {
      const auto payload = expectedPayload(layer, toElements(layer.type, randomFloats(layer.elements)));
      std::vector<uint8_t> &output = expected.emplace_back(layer.elements * cgx_element_bytes(layer.type));
      ASSERT_EQ(
          decode(layer.codec, layer.type, payload.data(), payload.size(), layer.elements, output.data()),
          DecodeError::ok);
      void *to = placeUnevenly(std::vector<uint8_t>(output.size(), 0xcd), cgx_element_bytes(layer.type));
      table.push_back({layer.codec, layer.type, placeUnevenly(padded(layer, payload), 8),
                       layer.payloadBytes(), layer.elements, to});
    }
    const auto group = decodeGroup(table, /*accumulates=*/false);
    ASSERT_NO_FATAL_FAILURE(run(*group));
    for (DecodeError error : resultsOf(*group))
      ASSERT_EQ(error, DecodeError::ok);
    for (size_t i = 0; i < layers.size(); ++i)
      ASSERT_EQ(device->fetch(table[i].output, expected[i].size()), expected[i]) << layers[i].describe();
  }
}

/// This covers all 65 536 f16 and bf16, and f32 that round to each of them, because a GPU converts them by
/// instructions.
TEST_P(GroupTest, EveryElementOf16BitsIsConvertedToTheBitsOfTheCpu) {
  std::vector<float> values;
  for (uint32_t lower : {0x0000u, 0x1000u, 0x7fffu, 0x8000u, 0x8001u})
    for (uint32_t upper = 0; upper <= 0xffff; ++upper)
      values.push_back(floatFromBits(upper << 16 | lower));
  std::vector<uint16_t> halves;
  for (uint32_t bits = 0; bits <= 0xffff; ++bits)
    halves.push_back(uint16_t(bits));
  for (const auto &[format, type] :
       {std::pair(CGX_FORMAT_F16, CGX_F16), std::pair(CGX_FORMAT_BF16, CGX_BF16)}) {
    cgx_codec cast = toCodec(usualCodec(CGX_CODEC_CAST));
    cast.format = format;
    cast.bucket = 0;
    ASSERT_EQ(checkCodec(cast, CGX_F32), "");
    const Layer layer = {cast, CGX_F32, values.size(), 0, 0, 0, 0};
    const std::vector<uint8_t> expected = expectedPayload(layer, toElements(CGX_F32, values));
    void *payload = room(expected.size());
    cuda::Outcome outcome;
    const cuda::EncodeLayer encoded = {layer.encoded(payload), placeValues(values)};
    const auto group = device->makeEncode(std::span(&encoded, 1), outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    ASSERT_NO_FATAL_FAILURE(run(*group));
    ASSERT_NO_FATAL_FAILURE(expectPayload(layer, payload, expected));
    // All of them are decoded to f32 again.
    std::vector<uint8_t> sent(cgx_payload_bytes(&cast, CGX_F32, halves.size()));
    std::vector<float> wide(halves.size());
    encode(cast, CGX_F32, wide.data(), wide.size(), layer.key(), 0, sent.data());
    const auto *bytes = reinterpret_cast<const uint8_t *>(halves.data());
    std::copy_n(bytes, halves.size() * 2, sent.data() + sent.size() - halves.size() * 2);
    std::vector<float> decoded(halves.size());
    ASSERT_EQ(decode(cast, CGX_F32, sent.data(), sent.size(), halves.size(), decoded.data()),
              DecodeError::ok);
    const cuda::DecodeLayer back = {cast,        CGX_F32,       place(sent),
                                    sent.size(), halves.size(), placeValues(wide)};
    const auto decoding = decodeGroup({back}, /*accumulates=*/false);
    ASSERT_NO_FATAL_FAILURE(run(*decoding));
    ASSERT_EQ(device->fetch(back.output, decoded.size() * sizeof(float)), toElements(CGX_F32, decoded))
        << "of " << type;
  }
}

TEST_P(GroupTest, AccumulatesToTheBitsOfTheCpu) {
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<Layer> layers = randomGroup();
    std::vector<cuda::DecodeLayer> table;
    std::vector<std::vector<uint8_t>> expected;
    for (const Layer &layer : layers) {
      const auto payload = expectedPayload(layer, toElements(layer.type, randomFloats(layer.elements)));
      std::vector<float> sum = makeFloats(Shape::uniform, layer.elements, random);
      float *accumulator = placeValues(sum);
      ASSERT_EQ(decodeAccumulate(layer.codec, layer.type, payload.data(), payload.size(), layer.elements,
                                 sum.data()),
                DecodeError::ok);
      expected.push_back(toElements(CGX_F32, sum));
      table.push_back({layer.codec, layer.type, place(padded(layer, payload)), layer.payloadBytes(),
                       layer.elements, accumulator});
    }
    const auto group = decodeGroup(table, /*accumulates=*/true);
    ASSERT_NO_FATAL_FAILURE(run(*group));
    for (size_t i = 0; i < layers.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expectSums(table[i].output, CGX_F32, expected[i], layers[i].describe()));
  }
}

TEST_P(GroupTest, OwnersEncodeTheSumOfContributions) {
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<Layer> layers = randomGroup();
    std::vector<cuda::OwnerLayer> table;
    std::vector<std::vector<uint8_t>> expected;
    for (const Layer &layer : layers) {
      cuda::OwnerLayer &owner = table.emplace_back();
      owner.encoded = layer.encoded(room(layer.payloadBytes()));
      owner.divisor = random() % 2 ? 1 : 3;
      std::vector<float> sum(layer.elements, cgx_codec_is_exact(&layer.codec) ? -0.0f : 0.0f);
      for (uint32_t rank = 0; rank < 1 + uint32_t(draw % 4); ++rank) {
        const auto payload = expectedPayload(layer, toElements(layer.type, summand(layer)));
        ASSERT_EQ(decodeAccumulate(layer.codec, layer.type, payload.data(), payload.size(), layer.elements,
                                   sum.data()),
                  DecodeError::ok);
        owner.contributions.push_back(place(padded(layer, payload)));
      }
      for (float &value : sum)
        value /= float(owner.divisor);
      std::vector<uint8_t> &payload = expected.emplace_back(layer.payloadBytes());
      payload.resize(encodeFromF32(layer.codec, layer.type, sum.data(), layer.elements, layer.key(),
                                   layer.firstElement, payload.data(), defaultImplementation(),
                                   layer.optimizer()));
    }
    cuda::Outcome outcome;
    const auto group = device->makeOwner(table, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    ASSERT_NO_FATAL_FAILURE(run(*group));
    for (size_t i = 0; i < layers.size(); ++i)
      ASSERT_NO_FATAL_FAILURE(expectPayload(layers[i], table[i].encoded.payload, expected[i]));
  }
}

TEST_P(GroupTest, ExactSumsOfNegativeZerosAreNegativeZeros) {
  for (uint32_t family : {CGX_CODEC_IDENTITY, CGX_CODEC_LOSSLESS}) {
    const Layer layer = {{.family = family}, CGX_F32, 1000, 0, 0, 0, 0};
    const auto zeros = toElements(CGX_F32, std::vector<float>(layer.elements, -0.0f));
    const void *contribution = place(padded(layer, expectedPayload(layer, zeros)));
    const cuda::OwnerLayer owner = {
        layer.encoded(room(layer.payloadBytes())), {contribution, contribution}, 2};
    cuda::Outcome outcome;
    const auto group = device->makeOwner({&owner, 1}, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    ASSERT_NO_FATAL_FAILURE(run(*group));
    ASSERT_NO_FATAL_FAILURE(expectPayload(layer, owner.encoded.payload, expectedPayload(layer, zeros)));
  }
}

TEST_P(GroupTest, RefusesWhatTheCpuRefusesAndWritesNothing) {
  for (int draw = 0; draw < draws; ++draw) {
    Layer layer = randomLayer(families[1 + random() % (std::size(families) - 1)]);
    auto payload = expectedPayload(layer, toElements(layer.type, randomFloats(layer.elements)));
    uint64_t given = payload.size();
    if (draw % 3 == 0)
      given = random() % payload.size();
    else if (draw % 3 == 1)
      payload[random() % CGX_PAYLOAD_HEADER_BYTES] ^= uint8_t(1 + random() % 255);
    else
      payload[random() % payload.size()] ^= uint8_t(1 + random() % 255);
    const std::vector<uint8_t> before(layer.elements * cgx_element_bytes(layer.type), 0xcd);
    std::vector<uint8_t> expected = before;
    const DecodeError error =
        decode(layer.codec, layer.type, payload.data(), given, layer.elements, expected.data());
    payload.resize(given);
    void *output = room(expected.size());
    const auto group = decodeGroup({{layer.codec, layer.type, place(payload), given, layer.elements, output}},
                                   /*accumulates=*/false);
    ASSERT_TRUE(group != nullptr);
    ASSERT_NO_FATAL_FAILURE(run(*group));
    const std::vector<DecodeError> found = resultsOf(*group);
    ASSERT_EQ(found.size(), 1u);
    if (cgx_payload_is_fixed(&layer.codec))
      ASSERT_EQ(int(found[0]), int(error)) << layer.describe();
    else // bytes after a payload are space for a longer one, so a wrong length may be found later
      ASSERT_EQ(found[0] == DecodeError::ok, error == DecodeError::ok) << layer.describe();
    ASSERT_EQ(device->fetch(output, expected.size()), expected) << layer.describe();
  }
}

TEST_P(GroupTest, LaunchesDoNotGrowWithTheNumberOfLayers) {
  const Layer layer = {quantizeCodec(4, 128), CGX_F32, 1000, 0, 0, 0, 0};
  uint32_t launches[2] = {};
  for (size_t count : {1u, 50u}) {
    std::vector<cuda::EncodeLayer> table;
    for (size_t i = 0; i < count; ++i)
      table.push_back({layer.encoded(room(layer.payloadBytes())), room(layer.elements * sizeof(float))});
    cuda::Outcome outcome;
    const auto group = device->makeEncode(table, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    launches[count > 1] = group->launches();
  }
  EXPECT_GT(launches[0], 0u);
  EXPECT_EQ(launches[0], launches[1]);
}

TEST_P(GroupTest, SaysWhatIsWrongWithALayer) {
  const Layer good = {quantizeCodec(4, 128), CGX_F32, 100, 0, 0, 0, 0};
  auto *payload = static_cast<uint8_t *>(room(good.payloadBytes() + 8));
  const void *input = room(400);
  const auto errorOf = [&](cuda::EncodeLayer layer) {
    cuda::Outcome outcome;
    const auto group = device->makeEncode(std::vector{layer}, outcome);
    EXPECT_EQ(group == nullptr, !outcome.ok());
    return outcome.error;
  };
  EXPECT_EQ(errorOf({good.encoded(payload), input}), "");
  EXPECT_EQ(errorOf({good.encoded(payload), nullptr}), "layer 0: expected a pointer to its input, got null");
  EXPECT_EQ(errorOf({good.encoded(payload + 4), input}),
            "layer 0: expected its payload aligned to 8 bytes, got an address 4 behind");
  Layer wrong = good;
  wrong.codec.bits = 9;
  EXPECT_EQ(errorOf({wrong.encoded(payload), input}), "layer 0: expected bits in 1..8, got 9");
}

INSTANTIATE_TEST_SUITE_P(On, GroupTest, testing::Values(makeEmulation, makeThreads, makeGpu),
                         [](const auto &info) { return info.param()->name(); });

} // namespace
} // namespace cgx::test
