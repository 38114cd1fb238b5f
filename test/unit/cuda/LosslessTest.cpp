//===-- LosslessTest.cpp - Entropy-coded exponents on GPUs ----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests cover cases of lossless and gcomp that random groups of GroupTest do not reach: tensors of
// which only some exponents are counted, codes of the greatest length, and blocks of every kind side by side.

#include "GroupFixture.h"

#include <cstring>
#include <functional>
#include <limits>

namespace cgx::test {
namespace {

class LosslessTest : public GroupFixture {
protected:
  std::vector<Layer> layersOf(cgx_element_type type, uint64_t elements) {
    const Layer lossless = {{.family = CGX_CODEC_LOSSLESS}, type, elements, 0, 0, 0, 0};
    Layer gcomp = lossless;
    gcomp.codec = {.family = CGX_CODEC_GCOMP, .optimizer = CGX_OPTIMIZER_MOMENTUM, .momentum = 0.5f};
    gcomp.lent = lend(gcomp);
    return {lossless, gcomp};
  }

  /// Encodes and decodes, and compares both with the CPU.
  void expectThereAndBack(cgx_element_type type, const std::vector<uint8_t> &input) {
    for (const Layer &layer : layersOf(type, input.size() / cgx_element_bytes(type)))
      ASSERT_NO_FATAL_FAILURE(expectThereAndBack(layer, input));
  }

  void expectThereAndBack(const Layer &layer, const std::vector<uint8_t> &input) {
    void *payload = room(layer.payloadBytes());
    cuda::Outcome outcome;
    const cuda::EncodeLayer encoded = {layer.encoded(payload), place(input)};
    const auto encoder = device->makeEncode({&encoded, 1}, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    ASSERT_NO_FATAL_FAILURE(run(*encoder));
    const std::vector<uint8_t> expected = expectedPayload(layer, input);
    ASSERT_NO_FATAL_FAILURE(expectPayload(layer, payload, expected));
    void *output = room(input.size());
    const auto decoder =
        decodeGroup({{layer.codec, layer.type, payload, layer.payloadBytes(), layer.elements, output}},
                    /*accumulates=*/false);
    ASSERT_NO_FATAL_FAILURE(run(*decoder));
    std::vector<uint8_t> decoded(input.size());
    ASSERT_EQ(
        decode(layer.codec, layer.type, expected.data(), expected.size(), layer.elements, decoded.data()),
        DecodeError::ok);
    ASSERT_EQ(device->fetch(output, input.size()), decoded) << layer.describe();
    if (cgx_codec_is_exact(&layer.codec)) {
      ASSERT_EQ(decoded, input);
    }
  }

  /// Returns elements each of whose exponents occurs half as often as the one before it, in random order.
  std::vector<float> fallingExponents(uint64_t elements) {
    std::vector<float> values(elements);
    for (float &value : values) {
      const uint64_t bits = random();
      const auto exponent = uint32_t(__builtin_ctzll(bits | 1ull << 40));
      value = floatFromBits((100 + exponent) << 23 | uint32_t(bits >> 41));
    }
    return values;
  }
};

TEST_P(LosslessTest, CodesOfTheLongestWordsAreThoseOfTheCpu) {
  for (cgx_element_type type : {CGX_F32, CGX_BF16})
    ASSERT_NO_FATAL_FAILURE(
        expectThereAndBack(type, toElements(type, fallingExponents(device->isSlow() ? 9000 : 50000))));
}

/// Tests for devices on which a million elements do not take minutes.
class ManyElementsTest : public LosslessTest {};

TEST_P(ManyElementsTest, SampledExponentsMakeTheCodeOfTheCpu) {
  // Above 2^20 elements every second run is counted. Some runs that are not counted have exponents without a
  // code.
  std::vector<float> values = fallingExponents((1 << 20) + 12345);
  for (uint64_t i = 700; i < values.size(); i += 300000)
    values[i] = 1e30f;
  ASSERT_NO_FATAL_FAILURE(expectThereAndBack(CGX_F32, toElements(CGX_F32, values)));
}

TEST_P(LosslessTest, BlocksOfAnyBitsComeBack) {
  std::vector<uint8_t> bytes(5 * CGX_LOSSLESS_BLOCK_ELEMENTS * 4 + 40);
  for (uint64_t i = 0; i < bytes.size(); ++i) // noise, zeros, one value, and noise in every other byte
    switch (i / (CGX_LOSSLESS_BLOCK_ELEMENTS * 4)) {
    case 1:
      bytes[i] = 0;
      break;
    case 2:
      bytes[i] = uint8_t(i % 4 * 0x15);
      break;
    default:
      bytes[i] = i % 2 ? uint8_t(random()) : uint8_t(0x3f);
    }
  for (cgx_element_type type : {CGX_F32, CGX_F16, CGX_BF16})
    ASSERT_NO_FATAL_FAILURE(expectThereAndBack(type, bytes));
}

TEST_P(LosslessTest, DecodesWhatIsBrokenAsTheCpuDoes) {
  const std::vector<uint8_t> input = toElements(CGX_F32, fallingExponents(20000));
  const std::vector<Layer> layers = layersOf(CGX_F32, 20000);
  const std::vector<uint8_t> soundOf[] = {expectedPayload(layers[0], input),
                                          expectedPayload(layers[1], input)};
  for (int draw = 0; draw < 8 * draws; ++draw) {
    const Layer &layer = layers[size_t(draw) % 2];
    const std::vector<uint8_t> &sound = soundOf[draw % 2];
    std::vector<uint8_t> payload = sound;
    // The damage hits, in turn, the offsets and the table, a header of a block, and anything.
    const uint64_t begin = CGX_PAYLOAD_HEADER_BYTES + 8;
    uint64_t offset;
    std::memcpy(&offset, sound.data() + begin + 8 * (random() % 3), sizeof offset);
    const uint64_t at = draw % 3 == 0   ? begin + random() % 80
                        : draw % 3 == 1 ? begin + offset + random() % 12
                                        : begin + random() % (sound.size() - begin);
    payload[at] ^= uint8_t(1 << random() % 8);
    std::vector<uint8_t> expected(input.size(), 0xcd);
    const DecodeError error =
        decode(layer.codec, layer.type, payload.data(), payload.size(), layer.elements, expected.data());
    void *output = room(input.size());
    const auto decoder = decodeGroup(
        {{layer.codec, layer.type, place(payload), payload.size(), layer.elements, output}}, false);
    ASSERT_NO_FATAL_FAILURE(run(*decoder));
    const std::vector<DecodeError> found = resultsOf(*decoder);
    ASSERT_EQ(found.size(), 1u);
    ASSERT_EQ(int(found[0]), int(error)) << "byte " << at << ", " << layer.describe();
    ASSERT_EQ(device->fetch(output, input.size()), expected) << "byte " << at << ", " << layer.describe();
  }
}

TEST_P(LosslessTest, NoBitIsDroppedWithoutAnOptimizerOrWithOneThatIsNoNumber) {
  std::vector<float> values = makeFloats(Shape::uniform, 9000, random);
  const std::vector<uint8_t> input = toElements(CGX_F32, values);
  for (const float rate : {0.0f, std::numeric_limits<float>::quiet_NaN()}) {
    Layer layer = layersOf(CGX_F32, values.size())[1];
    if (rate == 0.0f) {
      layer.lent = nullptr;
    } else {
      auto lent = std::make_shared<Lent>(*layer.lent);
      memcpy(lent->memory[CGX_KEPT_LEARNING_RATE].data(), &rate, sizeof rate);
      for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept) {
        lent->onHost.kept[kept].elements = lent->memory[kept].data();
        lent->onDevice.kept[kept].elements = place(lent->memory[kept]);
      }
      layer.lent = lent;
    }
    ASSERT_NO_FATAL_FAILURE(expectThereAndBack(layer, input));
    const std::vector<uint8_t> payload = expectedPayload(layer, input);
    std::vector<uint8_t> decoded(input.size());
    ASSERT_EQ(decode(layer.codec, CGX_F32, payload.data(), payload.size(), layer.elements, decoded.data()),
              DecodeError::ok);
    ASSERT_EQ(decoded, input);
  }
}

TEST_P(LosslessTest, SaysWhatOfAnOptimizerIsMissingOrNotAligned) {
  const Layer layer = layersOf(CGX_F32, 100)[1];
  const auto errorOf = [&](const std::function<void(OptimizerTensors &)> &change) {
    cuda::EncodeLayer wrong = {layer.encoded(room(layer.payloadBytes())), room(400)};
    change(wrong.encoded.optimizer);
    cuda::Outcome outcome;
    const auto group = device->makeEncode({&wrong, 1}, outcome);
    EXPECT_EQ(group == nullptr, !outcome.ok());
    return outcome.error;
  };
  EXPECT_EQ(errorOf([](OptimizerTensors &) {}), "");
  EXPECT_EQ(errorOf([](OptimizerTensors &optimizer) { optimizer.kept[CGX_KEPT_FIRST_MOMENT] = {}; }),
            "layer 0: expected a pointer to its first moment, got null");
  const auto *odd = static_cast<const uint8_t *>(room(404)) + 1;
  EXPECT_EQ(
      errorOf([&](OptimizerTensors &optimizer) { optimizer.kept[CGX_KEPT_LEARNING_RATE].elements = odd; }),
      "layer 0: expected its learning rate aligned to 4 bytes, got an address 1 behind");
}

std::string deviceName(const testing::TestParamInfo<MakeDevice *> &info) { return info.param()->name(); }

INSTANTIATE_TEST_SUITE_P(On, LosslessTest, testing::Values(makeEmulation, makeThreads, makeGpu), deviceName);
INSTANTIATE_TEST_SUITE_P(On, ManyElementsTest, testing::Values(makeEmulation, makeGpu), deviceName);

} // namespace
} // namespace cgx::test
