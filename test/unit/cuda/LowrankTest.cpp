//===-- LowrankTest.cpp - Factors on GPUs against those of the CPU --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests run a few steps of one rank among two. The factors of the other rank are any numbers, equal on
// the device and on the CPU. All bits are compared.

#include "GroupFixture.h"

#include "cgx/kernels/lowrank.h"
#include "state/Residual.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace cgx::test {
namespace {

using Floats = std::vector<float>;

/// A matrix and its factors on the CPU, computed in the order of the runtime.
struct Factored {
  cgx_codec codec;
  cgx_element_type type;
  uint64_t rows, columns, layerId;
  float decay;
  std::optional<Residual> residual;
  Floats warmStart, matrix, left, ownRight, right, result;
  bool isFinite = true;

  uint32_t rank() const { return codec.rank; }
  uint64_t elements() const { return rows * columns; }

  void makeLeft(const std::vector<uint8_t> &input) {
    matrix.assign(elements(), 0.0f);
    if (residual)
      residual->load(0, matrix);
    EXPECT_EQ(decodeAccumulate({}, type, input.data(), input.size(), elements(), matrix.data()),
              DecodeError::ok);
    if (!residual && type == CGX_F32)
      std::memcpy(matrix.data(), input.data(), input.size());
    const RandomKey key = makeRandomKey(step.seed, step.step, layerId, /*rank=*/0, 2 * step.run);
    if (drawZeroVectors(warmStart.data(), rank(), columns, key))
      orthonormalize(warmStart.data(), rank(), columns);
    left.resize(rank() * rows);
    multiply({matrix.data(), rows, columns}, warmStart.data(), rank(), left.data());
  }

  void makeRight() {
    isFinite = areFinite(left.data(), left.size());
    if (isFinite)
      orthonormalize(left.data(), rank(), rows);
    ownRight.resize(rank() * columns);
    multiplyTransposed({matrix.data(), rows, columns}, left.data(), rank(), ownRight.data());
  }

  void finish() {
    isFinite = isFinite && areFinite(right.data(), right.size());
    result.assign(elements(), std::numeric_limits<float>::quiet_NaN());
    if (!isFinite)
      return;
    constexpr float largest = std::numeric_limits<float>::max();
    Floats row(columns);
    for (uint64_t i = 0; i < rows; ++i) {
      reconstructRow(left.data(), ownRight.data(), rank(), rows, columns, i, row.data());
      for (uint64_t j = 0; j < columns; ++j) {
        float &lost = matrix[i * columns + j];
        lost = std::clamp(decay * (lost - row[j]), -largest, largest);
      }
      reconstructRow(left.data(), right.data(), rank(), rows, columns, i, result.data() + i * columns);
    }
    if (residual)
      residual->store(0, matrix);
    warmStart = right;
    orthonormalize(warmStart.data(), rank(), columns);
  }
};

class LowrankTest : public GroupFixture {
protected:
  struct OnDevice {
    cuda::LowrankLayer layer;
    std::vector<StateTensor> residual;
  };

  Factored randomMatrix() {
    constexpr cgx_element_type types[] = {CGX_F32, CGX_F16, CGX_BF16};
    Factored of = {};
    of.type = types[random() % 3];
    of.rows = 1 + random() % 70;
    of.columns = random() % 4 ? 1 + random() % 70 : 1000 + random() % 2500;
    if (!device->isSlow() && random() % 16 == 0) { // more blocks of elements than are added up at once
      of.rows = 1 + random() % 3;
      of.columns = 30000 + random() % 10000;
    }
    of.codec = {.family = CGX_CODEC_LOWRANK, .rank = uint32_t(1 + random() % 9), .rows = uint32_t(of.rows)};
    of.layerId = random() % 100;
    of.decay = 0.9f;
    if (random() % 2)
      of.residual.emplace(ResidualStorage(random() % 3), 0, of.elements());
    of.warmStart.assign(of.rank() * of.columns, 0.0f);
    return of;
  }

  OnDevice put(Factored &of) {
    OnDevice made;
    cuda::LowrankLayer &layer = made.layer;
    layer = {of.codec, of.type, of.elements(), of.layerId};
    layer.input = room(of.elements() * cgx_element_bytes(of.type));
    layer.output = room(of.elements() * cgx_element_bytes(of.type));
    layer.warmStart = placeValues(of.warmStart);
    layer.left = static_cast<float *>(room(of.rank() * of.rows * sizeof(float)));
    layer.ownRight = static_cast<float *>(room(of.rank() * of.columns * sizeof(float)));
    layer.right = static_cast<float *>(room(of.rank() * of.columns * sizeof(float)));
    if (of.residual) {
      of.residual->describe("", made.residual);
      layer.feedback = {storageOf(made), of.decay, room(bytesOf(made.residual[0]), 0),
                        made.residual.size() == 1 ? nullptr
                                                  : static_cast<float *>(room(bytesOf(made.residual[1]), 0))};
    }
    return made;
  }

  static ResidualStorage storageOf(const OnDevice &of) {
    return of.residual.size() == 2          ? ResidualStorage::Int8
           : of.residual[0].type == CGX_F32 ? ResidualStorage::F32
                                            : ResidualStorage::Bf16;
  }
  static uint64_t bytesOf(const StateTensor &tensor) {
    return tensor.elements * cgx_element_bytes(tensor.type);
  }

  void expectFloats(const void *memory, const Floats &expected, const char *what) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(expected.data());
    ASSERT_EQ(device->fetch(memory, expected.size() * sizeof(float)),
              std::vector<uint8_t>(bytes, bytes + expected.size() * sizeof(float)))
        << what;
  }

  /// Adds the other rank's factor, on both sides.
  void addOther(Floats &factor, const void *to) {
    for (float &value : factor)
      value += float(int64_t(random() % 2001) - 1000) * 1e-3f;
    device->overwrite(const_cast<void *>(to),
                      {reinterpret_cast<const uint8_t *>(factor.data()), factor.size() * sizeof(float)});
  }
};

TEST_P(LowrankTest, EveryBitIsThatOfTheCpu) {
  for (int draw = 0; draw < std::max(1, draws / 10); ++draw) {
    std::vector<Factored> group;
    for (uint64_t count = 1 + random() % 4; group.size() < count;)
      group.push_back(randomMatrix());
    std::vector<OnDevice> placed;
    std::vector<cuda::LowrankLayer> layers;
    for (Factored &of : group)
      layers.push_back(placed.emplace_back(put(of)).layer);
    cuda::Outcome outcome;
    const auto made = device->makeLowrank(layers, outcome);
    ASSERT_TRUE(outcome.ok()) << outcome.error;
    for (int time = 0; time < 3; ++time) {
      for (size_t i = 0; i < group.size(); ++i) {
        const bool isPoisoned = time == 1 && draw % 4 == 0;
        const auto input =
            toElements(group[i].type, makeFloats(isPoisoned ? Shape::poisoned : Shape::gradient,
                                                 group[i].elements(), random));
        device->overwrite(const_cast<void *>(layers[i].input), input);
        group[i].makeLeft(input);
      }
      ASSERT_TRUE(made->makeLeft(nullptr, state).ok());
      for (size_t i = 0; i < group.size(); ++i) {
        if (areFinite(group[i].left.data(), group[i].left.size())) {
          ASSERT_NO_FATAL_FAILURE(expectFloats(layers[i].left, group[i].left, "left"));
        }
        addOther(group[i].left, layers[i].left);
        group[i].makeRight();
      }
      ASSERT_TRUE(made->makeRight(nullptr).ok());
      for (size_t i = 0; i < group.size(); ++i) {
        if (group[i].isFinite) {
          ASSERT_NO_FATAL_FAILURE(expectFloats(layers[i].left, group[i].left, "orthonormal left"));
          ASSERT_NO_FATAL_FAILURE(expectFloats(layers[i].ownRight, group[i].ownRight, "own right"));
        }
        group[i].right = group[i].ownRight;
        addOther(group[i].right, layers[i].right);
        group[i].finish();
      }
      ASSERT_TRUE(made->finish(nullptr).ok());
      for (size_t i = 0; i < group.size(); ++i) {
        const auto expected = toElements(group[i].type, group[i].result);
        ASSERT_EQ(device->fetch(layers[i].output, expected.size()), expected);
        ASSERT_NO_FATAL_FAILURE(expectFloats(layers[i].warmStart, group[i].warmStart, "warm start"));
        const void *residual[] = {layers[i].feedback.residual, layers[i].feedback.scales};
        for (size_t j = 0; j < placed[i].residual.size(); ++j) {
          const auto *bytes = static_cast<const uint8_t *>(placed[i].residual[j].data);
          ASSERT_EQ(device->fetch(residual[j], bytesOf(placed[i].residual[j])),
                    std::vector<uint8_t>(bytes, bytes + bytesOf(placed[i].residual[j])));
        }
      }
    }
  }
}

TEST_P(LowrankTest, SaysWhatIsWrongWithALayer) {
  Factored of = randomMatrix();
  const cuda::LowrankLayer good = put(of).layer;
  const auto errorOf = [&](cuda::LowrankLayer layer) {
    cuda::Outcome outcome;
    const auto group = device->makeLowrank({&layer, 1}, outcome);
    EXPECT_EQ(group == nullptr, !outcome.ok());
    return outcome.error;
  };
  EXPECT_EQ(errorOf(good), "");
  cuda::LowrankLayer wrong = good;
  wrong.codec.rank = 0;
  EXPECT_EQ(errorOf(wrong), "layer 0: expected rank in 1..4294967295, got 0");
  wrong = good;
  wrong.warmStart = nullptr;
  EXPECT_EQ(errorOf(wrong), "layer 0: expected a pointer to its warm start, got null");
  wrong = good;
  wrong.codec.rows = 7;
  wrong.elements = 15;
  EXPECT_EQ(errorOf(wrong), "layer 0: expected a matrix of 7 rows, got 15 elements");
}

INSTANTIATE_TEST_SUITE_P(On, LowrankTest, testing::Values(makeEmulation, makeThreads, makeGpu),
                         [](const auto &info) { return info.param()->name(); });

} // namespace
} // namespace cgx::test
