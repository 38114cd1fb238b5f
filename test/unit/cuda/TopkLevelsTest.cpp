//===-- TopkLevelsTest.cpp - topk whose elements become levels, on a GPU --===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests compare groups of layers of every width with the payloads that the CPU makes of the same
// elements.

#include "GroupFixture.h"

#include <limits>

namespace cgx::test {
namespace {

class TopkLevelsTest : public GroupFixture {
protected:
  static cgx_codec topkLevels(uint32_t bits, uint32_t bucket, float density,
                              cgx_scale_type scale = CGX_SCALE_BF16) {
    return {.family = CGX_CODEC_TOPK,
            .bits = bits,
            .bucket = bucket,
            .scale = uint32_t(scale),
            .density = density};
  }

  template <typename T, size_t count> T oneOf(const std::array<T, count> &all) {
    return all[random() % count];
  }

  /// Returns layers of every width and scale type.
  std::vector<Layer> layersOfEveryWidth() {
    std::vector<Layer> layers;
    for (uint32_t bits = 1; bits <= 8; ++bits)
      for (cgx_scale_type scale : {CGX_SCALE_BF16, CGX_SCALE_F32}) {
        const uint32_t bucket = oneOf(std::array{37u, 128u, 256u, 1000u, 4096u});
        const float density = oneOf(std::array{0.001f, 0.01f, 0.1f, 0.5f, 1.0f});
        Layer &layer = layers.emplace_back();
        layer = {topkLevels(bits, bucket, density, scale),
                 oneOf(std::array{CGX_F32, CGX_F16, CGX_BF16}),
                 oneOf(std::array<uint64_t, 7>{0, 1, 33, 1000, 4096, 5003, 20011}),
                 0,
                 0,
                 0,
                 0};
        if (device->isSlow())
          layer.elements = random() % 80;
        layer.codec.checksum = random() % 4 == 0;
      }
    return layers;
  }

  /// Returns elements of any shape, or with many equal magnitudes of both signs, or none of them finite.
  std::vector<uint8_t> elementsOf(const Layer &layer) {
    std::vector<float> values = randomFloats(layer.elements);
    const uint64_t kind = random() % 6;
    for (float &value : values)
      if (kind == 0)
        value = (random() % 2 ? 1.0f : -1.0f) * float(1 + random() % 3);
      else if (kind == 1)
        value =
            random() % 2 ? std::numeric_limits<float>::quiet_NaN() : -std::numeric_limits<float>::infinity();
    return toElements(layer.type, values);
  }

  void expectDecoded(const Layer &layer, const void *output, const std::vector<uint8_t> &expected) {
    ASSERT_EQ(device->fetch(output, expected.size()), expected) << layer.describe();
  }
};

TEST_P(TopkLevelsTest, EncodesDecodesAndAccumulatesToTheBitsOfTheCpu) {
  for (int draw = 0; draw < (draws + 3) / 4; ++draw) {
    const std::vector<Layer> layers = layersOfEveryWidth();
    std::vector<cuda::EncodeLayer> encoded;
    std::vector<cuda::DecodeLayer> decoded, accumulated;
    std::vector<std::vector<uint8_t>> payloads, elements, sums;
    for (const Layer &layer : layers) {
      const std::vector<uint8_t> input = elementsOf(layer);
      const uint64_t bytes = layer.payloadBytes(), size = cgx_element_bytes(layer.type);
      std::vector<uint8_t> &payload = payloads.emplace_back(expectedPayload(layer, input));
      encoded.push_back(
          {layer.encoded(placeUnevenly(std::vector<uint8_t>(bytes, 0xcd), 8)), placeUnevenly(input, size)});
      std::vector<uint8_t> &output = elements.emplace_back(layer.elements * size);
      ASSERT_EQ(decode(layer.codec, layer.type, payload.data(), bytes, layer.elements, output.data()),
                DecodeError::ok);
      decoded.push_back({layer.codec, layer.type, placeUnevenly(payload, 8), bytes, layer.elements,
                         placeUnevenly(std::vector<uint8_t>(output.size(), 0xcd), size)});
      std::vector<float> sum = makeFloats(Shape::uniform, layer.elements, random);
      accumulated.push_back(
          {layer.codec, layer.type, placeUnevenly(payload, 8), bytes, layer.elements, placeValues(sum)});
      ASSERT_EQ(decodeAccumulate(layer.codec, layer.type, payload.data(), bytes, layer.elements, sum.data()),
                DecodeError::ok);
      sums.push_back(toElements(CGX_F32, sum));
    }
    cuda::Outcome outcome;
    const auto encoder = device->makeEncode(encoded, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    const auto decoder = decodeGroup(decoded, /*accumulates=*/false),
               accumulator = decodeGroup(accumulated, /*accumulates=*/true);
    for (cuda::Group *group : {encoder.get(), decoder.get(), accumulator.get()})
      ASSERT_NO_FATAL_FAILURE(run(*group));
    for (const auto *group : {&decoder, &accumulator})
      for (DecodeError error : resultsOf(**group))
        ASSERT_EQ(error, DecodeError::ok);
    for (size_t i = 0; i < layers.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(expectPayload(layers[i], encoded[i].encoded.payload, payloads[i]));
      ASSERT_NO_FATAL_FAILURE(expectDecoded(layers[i], decoded[i].output, elements[i]));
      ASSERT_NO_FATAL_FAILURE(expectSums(accumulated[i].output, CGX_F32, sums[i], layers[i].describe()));
    }
  }
}

TEST_P(TopkLevelsTest, DamagedPayloadsAreWhatTheyAreOnTheCpu) {
  // These cover Elias-Fano positions, and positions as one bit an element.
  for (const cgx_codec &codec : {topkLevels(4, 400, 0.02f), topkLevels(1, 100, 0.5f, CGX_SCALE_F32)})
    for (bool accumulates : {false, true}) {
      const Layer layer = {codec, CGX_BF16, 1001, 0, 0, 0, 0};
      const std::vector<uint8_t> good =
          expectedPayload(layer, toElements(layer.type, makeFloats(Shape::uniform, layer.elements, random)));
      const uint64_t outputBytes = layer.elements * (accumulates ? sizeof(float) : 2);
      std::vector<cuda::DecodeLayer> table;
      std::vector<std::vector<uint8_t>> expected;
      std::vector<DecodeError> errors;
      for (uint64_t byte = CGX_PAYLOAD_HEADER_BYTES; byte < good.size(); byte += device->isSlow() ? 17 : 1) {
        std::vector<uint8_t> damaged = good, output(outputBytes, 0x3d);
        damaged[byte] ^= uint8_t(1 + random() % 255);
        table.push_back({codec, layer.type, place(damaged), good.size(), layer.elements, place(output)});
        errors.push_back(
            accumulates
                ? decodeAccumulate(codec, layer.type, damaged.data(), damaged.size(), layer.elements,
                                   reinterpret_cast<float *>(output.data()))
                : decode(codec, layer.type, damaged.data(), damaged.size(), layer.elements, output.data()));
        expected.push_back(output);
      }
      const auto group = decodeGroup(table, accumulates);
      ASSERT_NO_FATAL_FAILURE(run(*group));
      ASSERT_EQ(resultsOf(*group), errors) << layer.describe();
      for (size_t i = 0; i < table.size(); ++i)
        ASSERT_NO_FATAL_FAILURE(expectDecoded(layer, table[i].output, expected[i]));
      EXPECT_NE(std::count(errors.begin(), errors.end(), DecodeError::ok), 0);
      const bool isRefused = std::count(errors.begin(), errors.end(), DecodeError::malformed) != 0;
      EXPECT_TRUE(isRefused || device->isSlow()); // slow devices draw only a few of them
    }
}

INSTANTIATE_TEST_SUITE_P(On, TopkLevelsTest, testing::Values(makeEmulation, makeThreads, makeGpu),
                         [](const auto &info) { return info.param()->name(); });

} // namespace
} // namespace cgx::test
