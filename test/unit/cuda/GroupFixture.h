//===-- GroupFixture.h - Random groups of layers on a device ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_CUDA_GROUPFIXTURE_H
#define CGX_TEST_UNIT_CUDA_GROUPFIXTURE_H

#include "../kernels/Inputs.h"
#include "Devices.h"
#include "RandomCodecs.h"
#include "cgx/codec_table.h"

#include "cgx/kernels/codecs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace cgx::test {

inline constexpr cuda::StepState step = {.seed = 11, .step = 22, .run = 3};

/// Optimizer state that a codec may read, on the host and on the device.
struct Lent {
  std::array<std::vector<uint8_t>, CGX_KEPT_COUNT> memory;
  OptimizerTensors onHost, onDevice;
};

struct Layer {
  cgx_codec codec;
  cgx_element_type type;
  uint64_t elements, firstElement, layerId, rank, phase;
  std::shared_ptr<const Lent> lent = {}; ///< null if there is none

  RandomKey key() const { return makeRandomKey(step.seed, step.step, layerId, rank, phase + 2 * step.run); }
  uint64_t payloadBytes() const { return cgx_payload_bytes(&codec, type, elements); }
  cuda::EncodedLayer encoded(void *payload) const {
    return {codec, type,  elements, firstElement, layerId,
            rank,  phase, payload,  {},           lent ? lent->onDevice : OptimizerTensors()};
  }
  const OptimizerTensors *optimizer() const { return lent ? &lent->onHost : nullptr; }
  std::string describe() const {
    return describeFields(codec) + ", type " + std::to_string(type) + ", " + std::to_string(elements) +
           " elements from " + std::to_string(firstElement) + ", CGX_TEST_SEED=" + std::to_string(testSeed());
  }
};

/// Draws layers and groups of them, and owns memory on the device under test.
class GroupFixture : public testing::TestWithParam<MakeDevice *> {
protected:
  void SetUp() override {
    device = GetParam()();
    if (cuda::Outcome outcome = device->availability(); !outcome.ok())
      GTEST_SKIP() << outcome.error;
    draws = device->isSlow() ? 3 : drawCount();
    state = static_cast<const cuda::StepState *>(place(&step, sizeof step));
  }

  void *place(const void *bytes, uint64_t count) {
    return device->place({static_cast<const uint8_t *>(bytes), count});
  }
  void *place(const std::vector<uint8_t> &bytes) { return device->place(bytes); }
  /// Places bytes at an address that is aligned to `alignment`, and often to no more, or to two or three
  /// times as much.
  void *placeUnevenly(std::vector<uint8_t> bytes, uint64_t alignment) {
    const uint64_t offset = random() % 2 ? alignment * (1 + random() % 3) : 0;
    bytes.insert(bytes.begin(), offset, uint8_t(0xcd));
    return static_cast<uint8_t *>(place(bytes)) + offset;
  }
  template <typename T> T *placeValues(const std::vector<T> &values) {
    return static_cast<T *>(place(values.data(), values.size() * sizeof(T)));
  }
  /// Returns memory that is filled with a byte.
  void *room(uint64_t bytes, uint8_t fill = 0xcd) { return place(std::vector<uint8_t>(bytes, fill)); }

  Layer randomLayer(uint32_t family) {
    constexpr cgx_element_type types[] = {CGX_F32, CGX_F16, CGX_BF16};
    constexpr uint64_t lengths[] = {1,   2,   7,   31,  32,   33,   127,  128,
                                    129, 511, 512, 513, 1000, 4096, 5003, 20011};
    const size_t lengthCount = device->isSlow() ? 13 : std::size(lengths);
    Layer layer = {};
    layer.type = types[random() % 3];
    layer.codec = randomCodec(family, layer.type, random);
    layer.elements = lengths[random() % lengthCount];
    layer.firstElement = random() % 2 ? random() % 10000 * cgx_chunk_alignment(&layer.codec) : 0;
    layer.layerId = random() % 100;
    layer.rank = random() % 8;
    layer.phase = random() % 2;
    if (cgx_codec_needs(&layer.codec, CGX_KEPT_PARAMETER) && random() % 8 != 0)
      layer.lent = lend(layer);
    return layer;
  }

  /// Makes optimizer state of random types, with magnitudes such that all levels occur.
  std::shared_ptr<const Lent> lend(const Layer &layer) {
    constexpr cgx_element_type types[] = {CGX_F32, CGX_F16, CGX_BF16};
    auto lent = std::make_shared<Lent>();
    lent->onHost.update = step.step + 1;
    std::normal_distribution<float> normal;
    for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept) {
      if (!cgx_codec_needs(&layer.codec, kept))
        continue;
      const bool isRate = kept == CGX_KEPT_LEARNING_RATE;
      std::vector<float> values(cgx_kept_elements(kept, layer.firstElement + layer.elements));
      for (float &value : values)
        value = isRate ? 0.01f : normal(random) * std::ldexp(1.0f, -int(random() % 24));
      if (kept == CGX_KEPT_SECOND_MOMENT)
        for (float &value : values)
          value *= value;
      const cgx_element_type type = isRate ? CGX_F32 : types[random() % 3];
      lent->memory[kept] = toElements(type, values);
      lent->onHost.kept[kept] = {lent->memory[kept].data(), type};
      lent->onDevice.kept[kept] = {placeUnevenly(lent->memory[kept], cgx_element_bytes(type)), type};
    }
    return lent;
  }

  std::vector<Layer> randomGroup() {
    std::vector<Layer> layers;
    for (uint64_t count = 1 + random() % 12; layers.size() < count;)
      layers.push_back(randomLayer(families[random() % families.size()]));
    layers[random() % layers.size()].elements = 0;
    return layers;
  }

  std::vector<float> randomFloats(uint64_t elements) {
    return makeFloats(allShapes[random() % std::size(allShapes)], elements, random);
  }

  /// Returns elements that are added to a sum. It is unspecified which NaN a sum is, so families that keep
  /// the bits of NaNs get none.
  std::vector<float> summand(const Layer &layer) {
    const uint32_t family = layer.codec.family;
    const bool keepsNans =
        family == CGX_CODEC_IDENTITY || family == CGX_CODEC_CAST || family >= CGX_CODEC_TOPK;
    return keepsNans ? makeFloats(Shape::gradient, layer.elements, random) : randomFloats(layer.elements);
  }

  /// Returns the payload that the CPU makes of elements.
  std::vector<uint8_t> expectedPayload(const Layer &layer, const std::vector<uint8_t> &input) {
    std::vector<uint8_t> payload(layer.payloadBytes());
    payload.resize(encode(layer.codec, layer.type, input.data(), layer.elements, layer.key(),
                          layer.firstElement, payload.data(), defaultImplementation(), layer.optimizer()));
    return payload;
  }

  /// Returns a payload with space for the longest one.
  std::vector<uint8_t> padded(const Layer &layer, std::vector<uint8_t> payload) {
    payload.resize(layer.payloadBytes(), 0xab);
    return payload;
  }

  void expectPayload(const Layer &layer, const void *payload, const std::vector<uint8_t> &expected) {
    ASSERT_EQ(device->fetch(payload, expected.size()), expected) << layer.describe();
  }

  /// Compares sums. NaNs are compared as numbers, because it is unspecified which NaN a sum is (NVIDIA's is
  /// 0x7fffffff).
  void expectSums(const void *sums, cgx_element_type type, const std::vector<uint8_t> &expected,
                  const std::string &what) {
    const std::vector<uint8_t> found = device->fetch(sums, expected.size());
    const uint64_t bytes = cgx_element_bytes(type), count = expected.size() / bytes;
    const std::vector<float> actual = toFloats(type, found.data(), count),
                             wanted = toFloats(type, expected.data(), count);
    for (uint64_t i = 0; i < count; ++i)
      ASSERT_TRUE(std::equal(&found[i * bytes], &found[i * bytes] + bytes, &expected[i * bytes]) ||
                  (std::isnan(actual[i]) && std::isnan(wanted[i])))
          << "sum " << i << ": " << actual[i] << ", expected " << wanted[i] << ", " << what;
  }

  std::unique_ptr<cuda::Group> decodeGroup(const std::vector<cuda::DecodeLayer> &layers, bool accumulates) {
    cuda::Outcome outcome;
    auto group = (accumulates ? device->makeAccumulate : device->makeDecode)(layers, outcome);
    EXPECT_TRUE(outcome.ok()) << outcome.error;
    return group;
  }

  void run(cuda::Group &group) {
    const cuda::Outcome outcome = group.run(nullptr, state);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
  }

  std::vector<DecodeError> resultsOf(cuda::Group &group) {
    std::vector<DecodeError> errors;
    const cuda::Outcome outcome = group.results(nullptr, errors);
    EXPECT_TRUE(outcome.ok()) << outcome.error;
    return errors;
  }

  /// Returns the families of the table that have GPU kernels, identity first. quantize, which has the most
  /// shapes, is drawn more often.
  static std::vector<uint32_t> familiesToDraw() {
    std::vector<uint32_t> numbers;
    for (const CodecFamilyEntry &family : codecFamilies())
      if (const cgx_codec codec = toCodec(usualCodec(family.family)); cgx_codec_has_gpu_kernels(&codec))
        numbers.push_back(family.family);
    numbers.insert(numbers.end(), 2, CGX_CODEC_QUANTIZE);
    return numbers;
  }
  /// Returns how many groups a test draws: CGX_TEST_DRAWS, for devices on which each kernel takes long.
  static int drawCount() {
    const char *text = std::getenv("CGX_TEST_DRAWS");
    return text ? std::atoi(text) : 200;
  }
  const std::vector<uint32_t> families = familiesToDraw();
  int draws = 0;
  std::unique_ptr<Device> device;
  const cuda::StepState *state = nullptr;
  std::mt19937_64 random{testSeed()};
};

} // namespace cgx::test

#endif // CGX_TEST_UNIT_CUDA_GROUPFIXTURE_H
