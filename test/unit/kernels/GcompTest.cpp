//===-- test/unit/kernels/GcompTest.cpp - Mantissas by the optimizer's metric --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cgx::test {
namespace {

cgx_codec codecOf(cgx_optimizer optimizer, uint32_t truncation = 0) {
  cgx_codec codec = {.family = CGX_CODEC_GCOMP, .optimizer = uint32_t(optimizer)};
  codec.truncation = truncation;
  codec.learning_rate = 0.01f;
  codec.weight_decay = 0.1f;
  if (optimizer == CGX_OPTIMIZER_MOMENTUM || optimizer == CGX_OPTIMIZER_NESTEROV)
    codec.momentum = 0.9f;
  if (optimizer == CGX_OPTIMIZER_MOMENTUM)
    codec.dampening = 0.5f;
  if (optimizer >= CGX_OPTIMIZER_ADAM)
    codec.beta1 = 0.9f;
  if (optimizer >= CGX_OPTIMIZER_RMSPROP)
    codec.beta2 = 0.99f;
  if (optimizer >= CGX_OPTIMIZER_ADAGRAD)
    codec.epsilon = 1e-6f;
  return codec;
}

/// Optimizer state, in a type of its own.
struct Kept {
  std::vector<uint8_t> parameter, first, second;
  cgx_element_type type;
  uint64_t update;
  float learningRate = std::numeric_limits<float>::quiet_NaN(); ///< the rate of the step

  OptimizerTensors view() const {
    return {
        {{{parameter.data(), type}, {first.data(), type}, {second.data(), type}, {&learningRate, CGX_F32}}},
        update};
  }
  double at(const std::vector<uint8_t> &tensor, uint64_t i) const {
    return double(toFloats(type, tensor.data() + i * cgx_element_bytes(type), 1)[0]);
  }
};

int mantissaOf(cgx_element_type type) { return type == CGX_F32 ? 23 : type == CGX_F16 ? 10 : 7; }

uint32_t droppedBits(const cgx_codec &codec, cgx_element_type type, uint32_t level) {
  const uint32_t each = codec.truncation ? codec.truncation : type == CGX_F32 ? 6 : 2;
  return std::min<uint32_t>(level * each, type == CGX_F32 ? 23 : 7);
}

/// Returns the metric as table 2 of the paper states it, with its divisions.
double metricOf(const cgx_codec &codec, double g, double theta, double m, double v, uint64_t t) {
  const double eta = codec.learning_rate, lambda = codec.weight_decay, mu = codec.momentum,
               tau = codec.dampening, beta1 = codec.beta1, beta2 = codec.beta2, epsilon = codec.epsilon,
               decayed = g + lambda * theta;
  switch (codec.optimizer) {
  case CGX_OPTIMIZER_SGD:
    return theta / (eta * g) - lambda * theta / g;
  case CGX_OPTIMIZER_MOMENTUM:
    return (theta - eta * mu * m) / (eta * (1 - tau) * g) - lambda * theta / g;
  case CGX_OPTIMIZER_NESTEROV:
    return ((1 - eta * lambda * (1 + mu)) * theta - eta * mu * mu * m) / (eta * (1 + mu) * g);
  case CGX_OPTIMIZER_ADAGRAD:
    return theta * (std::sqrt(v + decayed * decayed) + epsilon) / (eta * g) - lambda * theta / g;
  case CGX_OPTIMIZER_RMSPROP:
    return theta * (std::sqrt(beta2 * v + (1 - beta2) * decayed * decayed) + epsilon) / (eta * g) -
           lambda * theta / g;
  default: {
    const bool isAdam = codec.optimizer == CGX_OPTIMIZER_ADAM;
    const double square = isAdam ? decayed * decayed : g * g;
    const double corrected = (beta2 * v + (1 - beta2) * square) / (1 - std::pow(beta2, double(t)));
    const double whole = theta * (std::sqrt(corrected) + epsilon) * (1 - std::pow(beta1, double(t))) *
                             (isAdam ? 1 : 1 - eta * lambda) -
                         eta * beta1 * m;
    return whole / (eta * (1 - beta1) * g) - (isAdam ? lambda * theta / g : 0);
  }
  }
}

/// Rounds `x` to steps of 2^dropped last places, unless that changes the exponent, or for f16 the three bits
/// below it.
double roundedOf(double x, cgx_element_type type, uint32_t dropped) {
  if (x == 0 || dropped == 0)
    return x;
  const int exponent = std::ilogb(x);
  const double unit = std::ldexp(1.0, exponent - mantissaOf(type) + int(dropped));
  const double nearest = std::round(x / unit) * unit,
               above = std::ldexp(1.0, exponent - (type == CGX_F16 ? 3 : 0));
  return std::trunc(nearest / above) == std::trunc(x / above) ? nearest : std::trunc(x / unit) * unit;
}

double smallestNormal(cgx_element_type type) { return type == CGX_F16 ? 0x1p-14 : 0x1p-126; }

class GcompTest : public testing::TestWithParam<const Implementation *> {
protected:
  std::vector<uint8_t> encodeWith(const cgx_codec &codec, cgx_element_type type,
                                  const std::vector<uint8_t> &elements, const OptimizerTensors *optimizer,
                                  const Implementation &with, uint64_t first = 0) {
    const uint64_t count = elements.size() / cgx_element_bytes(type);
    std::vector<uint8_t> payload(cgx_payload_bytes(&codec, type, count));
    payload.resize(
        encode(codec, type, elements.data(), count, RandomKey{1}, first, payload.data(), with, optimizer));
    return payload;
  }

  std::vector<uint8_t> decodeWith(const cgx_codec &codec, cgx_element_type type,
                                  const std::vector<uint8_t> &payload, uint64_t count) {
    const Bytes exactly(payload, 0);
    std::vector<uint8_t> output(count * cgx_element_bytes(type));
    EXPECT_EQ(decode(codec, type, exactly.data(), exactly.size(), count, output.data(), *GetParam()),
              DecodeError::ok);
    return output;
  }

  /// Encodes and decodes elements, and expects the payload of the reference.
  std::vector<uint8_t> through(const cgx_codec &codec, cgx_element_type type,
                               const std::vector<uint8_t> &elements, const OptimizerTensors *optimizer,
                               uint64_t *bytes = nullptr) {
    const std::vector<uint8_t> payload = encodeWith(codec, type, elements, optimizer, *GetParam());
    EXPECT_EQ(payload, encodeWith(codec, type, elements, optimizer, *findImplementation("reference")));
    if (bytes)
      *bytes = payload.size();
    return decodeWith(codec, type, payload, elements.size() / cgx_element_bytes(type));
  }

  /// Returns optimizer state with magnitudes such that all levels occur.
  Kept makeKept(uint64_t count, cgx_element_type type) {
    std::vector<float> parameter(count), first(count), second(count);
    std::normal_distribution<float> normal;
    for (uint64_t i = 0; i < count; ++i) {
      parameter[i] = normal(random) * std::ldexp(1.0f, -int(random() % 24));
      first[i] = normal(random) * 1e-3f;
      second[i] = first[i] * first[i] * float(random() % 3);
    }
    return {toElements(type, parameter), toElements(type, first), toElements(type, second), type,
            1 + random() % 1000};
  }

  std::mt19937_64 random{testSeed()};
};

constexpr uint64_t lengths[] = {1, 255, 256, 257, 2049, 8192, 8193, 20000};
constexpr cgx_element_type types[] = {CGX_F32, CGX_F16, CGX_BF16};

TEST_P(GcompTest, ElementsAreAsLongAsTheMetricOfThePaperSays) {
  uint64_t ofLevel[4] = {};
  for (uint32_t optimizer = 0; optimizer < CGX_OPTIMIZER_COUNT; ++optimizer)
    for (cgx_element_type type : types)
      for (uint64_t count : {uint64_t(1), uint64_t(300), uint64_t(9000)}) {
        const cgx_codec codec = codecOf(cgx_optimizer(optimizer), uint32_t(random() % 8));
        const Kept kept = makeKept(count, types[random() % 3]);
        const OptimizerTensors view = kept.view();
        const std::vector<uint8_t> elements = toElements(type, makeFloats(Shape::gradient, count, random));
        const std::vector<float> given = toFloats(type, elements.data(), count),
                                 decoded =
                                     toFloats(type, through(codec, type, elements, &view).data(), count);
        SCOPED_TRACE("optimizer " + std::to_string(optimizer) + ", type " + std::to_string(type) +
                     ", CGX_TEST_SEED=" + std::to_string(testSeed()));
        for (uint64_t i = 0; i < count; ++i) {
          const double g = double(given[i]);
          if (g == 0) {
            ASSERT_EQ(floatBits(decoded[i]), floatBits(given[i]));
            continue;
          }
          if (std::fabs(g) < smallestNormal(type)) {
            ASSERT_EQ(decoded[i], type == CGX_F16 ? given[i] : 0.0f);
            continue;
          }
          const double metric =
              std::fabs(metricOf(codec, g, kept.at(kept.parameter, i), kept.at(kept.first, i),
                                 kept.at(kept.second, i), kept.update));
          uint32_t level = 0;
          bool isClose = false; // then either of two levels is correct
          for (uint32_t l = 1; l < 4; ++l) {
            const double least =
                std::ldexp(1.0, int(droppedBits(codec, type, l)) + mantissaOf(kept.type) - mantissaOf(type));
            level += metric > least;
            isClose |= std::fabs(metric / least - 1) < 1e-9;
          }
          if (isClose)
            continue;
          ++ofLevel[level];
          ASSERT_EQ(double(decoded[i]), roundedOf(g, type, droppedBits(codec, type, level)))
              << "element " << i << " of " << count << ": " << g << ", level " << level << ", metric "
              << metric;
        }
      }
  for (uint64_t number : ofLevel)
    EXPECT_GT(number, 1000u);
}

// Estimates in fewer bits decide only where they are certain. So the bytes are those of the reference also
// near thresholds, where parts of the rest cancel out, and at the ends of the range of f32.
TEST_P(GcompTest, LevelsBesideThresholdsAreThoseOfTheReference) {
  const float edges[] = {0.0f,     -0.0f,    1e-45f,   1e-39f, 0x1p-126f, 1e-30f, 1e-20f, 1e20f,  1e30f,
                         0x1p120f, 0x1p127f, INFINITY, NAN,    -NAN,      1.0f,   -1e38f, -1e-38f};
  const auto edge = [&] { return edges[random() % std::size(edges)]; };
  for (uint32_t optimizer = 0; optimizer < CGX_OPTIMIZER_COUNT; ++optimizer)
    for (float decay : {0.0f, 0.1f})
      for (float rate : {1e-2f, 1e-5f, 1e-25f})
        for (uint64_t edgesIn : {0u, 100u, 5u}) {
          cgx_codec codec = codecOf(cgx_optimizer(optimizer));
          codec.weight_decay = decay;
          codec.learning_rate = rate;
          const uint64_t count = 20011;
          const std::vector<float> gradient = makeFloats(Shape::gradient, count, random);
          std::vector<float> given = gradient, parameter(count), first(count), second(count);
          const uint64_t update = 1 + random() % 1000;
          std::normal_distribution<float> normal;
          std::uniform_real_distribution<double> uniform(-1.0, 1.0);
          for (uint64_t i = 0; i < count; ++i) {
            first[i] = normal(random) * 1e-3f;
            second[i] = first[i] * first[i] * float(random() % 3);
            // Without decay, the metric is nearly linear in the parameter.
            const auto metricAt = [&](double theta) {
              return metricOf(codec, double(given[i]), theta, double(first[i]), double(second[i]), update);
            };
            const double target = std::ldexp(1 + uniform(random) * std::ldexp(1.0, -int(random() % 26)),
                                             int(droppedBits(codec, CGX_F32, uint32_t(1 + random() % 3))));
            parameter[i] = float((target - metricAt(0)) / (metricAt(1) - metricAt(0)));
            if (edgesIn == 0 || random() % edgesIn != 0)
              continue;
            (random() % 2 ? given : parameter)[i] = edge();
            (random() % 2 ? first : second)[i] = edge();
          }
          const Kept kept = {toElements(CGX_F32, parameter), toElements(CGX_F32, first),
                             toElements(CGX_F32, second), CGX_F32, update};
          const OptimizerTensors view = kept.view();
          SCOPED_TRACE("optimizer " + std::to_string(optimizer) + ", decay " + std::to_string(decay) +
                       ", CGX_TEST_SEED=" + std::to_string(testSeed()));
          ASSERT_EQ(encodeWith(codec, CGX_F32, toElements(CGX_F32, given), &view, *GetParam()),
                    encodeWith(codec, CGX_F32, toElements(CGX_F32, given), &view,
                               *findImplementation("reference")));
        }
}

// This is the promise of the codec, for optimizers where it can be computed because the gradient enters their
// updates as a factor.
TEST_P(GcompTest, UpdatesChangeByNoMoreThanTheLastPlaceOfWhatTheyAreAddedTo) {
  for (cgx_optimizer optimizer : {CGX_OPTIMIZER_SGD, CGX_OPTIMIZER_MOMENTUM, CGX_OPTIMIZER_NESTEROV})
    for (cgx_element_type type : types) {
      const uint64_t count = 20000;
      const cgx_codec codec = codecOf(optimizer);
      const Kept kept = makeKept(count, CGX_F32);
      const OptimizerTensors view = kept.view();
      const std::vector<uint8_t> elements = toElements(type, makeFloats(Shape::gradient, count, random));
      uint64_t bytes = 0;
      const std::vector<float> given = toFloats(type, elements.data(), count),
                               decoded = toFloats(type, through(codec, type, elements, &view, &bytes).data(),
                                                  count);
      for (uint64_t i = 0; i < count; ++i) {
        const double theta = kept.at(kept.parameter, i), b = kept.at(kept.first, i),
                     eta = codec.learning_rate, mu = codec.momentum, lambda = codec.weight_decay;
        const double step = optimizer == CGX_OPTIMIZER_NESTEROV   ? eta * (1 + mu)
                            : optimizer == CGX_OPTIMIZER_MOMENTUM ? eta * (1 - double(codec.dampening))
                                                                  : eta;
        const double old = optimizer == CGX_OPTIMIZER_SGD        ? 0
                           : optimizer == CGX_OPTIMIZER_NESTEROV ? eta * mu * mu * b
                                                                 : eta * mu * b;
        const double rest = theta - step * lambda * theta - old;
        ASSERT_LE(step * std::fabs(double(decoded[i]) - double(given[i])),
                  0x1.00001p-23 * std::fabs(rest) + step * 0x1p-126)
            << i;
      }
      EXPECT_LT(bytes, elements.size());
    }
}

TEST_P(GcompTest, WhatIsNotFiniteKeepsItsBits) {
  const uint32_t patterns[] = {0x7f800000, 0xff800000, 0x7f800001, 0xffc12345, 0x7fffffff, 0x7fc00000};
  const uint64_t count = 3000;
  for (uint32_t optimizer = 0; optimizer < CGX_OPTIMIZER_COUNT; ++optimizer) {
    const Kept kept = makeKept(count, CGX_F32);
    const OptimizerTensors view = kept.view();
    std::vector<uint8_t> elements = toElements(CGX_F32, makeFloats(Shape::gradient, count, random));
    for (uint64_t i = 0; i < count; i += 7)
      memcpy(elements.data() + 4 * i, &patterns[random() % std::size(patterns)], 4);
    const std::vector<uint8_t> decoded = through(codecOf(cgx_optimizer(optimizer)), CGX_F32, elements, &view);
    for (uint64_t i = 0; i < count; i += 7)
      ASSERT_EQ(memcmp(decoded.data() + 4 * i, elements.data() + 4 * i, 4), 0) << i;
  }
}

TEST_P(GcompTest, NoBitIsDroppedWhereTheParameterIsNoNumber) {
  const uint64_t count = 1000;
  for (uint32_t optimizer = 0; optimizer < CGX_OPTIMIZER_COUNT; ++optimizer) {
    Kept kept = makeKept(count, CGX_F32);
    kept.parameter = toElements(CGX_F32, std::vector<float>(count, std::numeric_limits<float>::quiet_NaN()));
    const OptimizerTensors view = kept.view();
    const std::vector<uint8_t> elements = toElements(CGX_F32, makeFloats(Shape::uniform, count, random));
    EXPECT_EQ(through(codecOf(cgx_optimizer(optimizer)), CGX_F32, elements, &view), elements);
  }
}

TEST_P(GcompTest, WithoutAnOptimizerOnlyWhatHasNoExponentIsLost) {
  for (cgx_element_type type : types)
    for (Shape shape : allShapes)
      for (uint64_t count : lengths) {
        SCOPED_TRACE(std::string(shapeName(shape)) + ", " + std::to_string(count));
        std::vector<uint8_t> elements = toElements(type, makeFloats(shape, count, random));
        const std::vector<uint8_t> decoded = through(codecOf(CGX_OPTIMIZER_ADAM), type, elements, nullptr);
        const uint64_t bytes = cgx_element_bytes(type);
        for (uint64_t i = 0; i < count && type != CGX_F16; ++i) {
          const uint16_t high = loadFrom<uint16_t>(elements.data() + i * bytes + bytes - 2);
          if ((high & 0x7f80) == 0) { // the zero of its sign
            memset(elements.data() + i * bytes, 0, bytes);
            elements[i * bytes + bytes - 1] = uint8_t(high >> 8) & 0x80;
          }
        }
        ASSERT_EQ(decoded, elements);
      }
}

TEST_P(GcompTest, TheLearningRateOfAStepCountsAsOneOfTheCodec) {
  const uint64_t count = 20000;
  for (uint32_t optimizer = 0; optimizer < CGX_OPTIMIZER_COUNT; ++optimizer)
    for (cgx_element_type type : types) {
      cgx_codec constant = codecOf(cgx_optimizer(optimizer)), lent = constant;
      lent.learning_rate = 0;
      Kept kept = makeKept(count, CGX_F32);
      const std::vector<uint8_t> elements = toElements(type, makeFloats(Shape::gradient, count, random));
      std::vector<uint64_t> sizes;
      for (float rate : {1e-6f, 1e-2f, 10.0f}) {
        constant.learning_rate = kept.learningRate = rate;
        const OptimizerTensors view = kept.view();
        uint64_t bytes = 0;
        EXPECT_EQ(through(lent, type, elements, &view, &sizes.emplace_back()),
                  through(constant, type, elements, &view, &bytes));
        EXPECT_EQ(sizes.back(), bytes);
      }
      EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
      EXPECT_LT(sizes.front(), sizes.back());
    }
}

TEST_P(GcompTest, NoBitIsDroppedWithALearningRateThatIsNotFinite) {
  const uint64_t count = 1000;
  for (uint32_t optimizer = 0; optimizer < CGX_OPTIMIZER_COUNT; ++optimizer)
    for (float rate : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      cgx_codec codec = codecOf(cgx_optimizer(optimizer));
      codec.learning_rate = 0;
      Kept kept = makeKept(count, CGX_F32);
      kept.learningRate = rate;
      const OptimizerTensors view = kept.view();
      const std::vector<uint8_t> elements = toElements(CGX_F32, makeFloats(Shape::uniform, count, random));
      EXPECT_EQ(through(codec, CGX_F32, elements, &view), elements);
    }
}

TEST_P(GcompTest, PiecesDecodeToTheValuesOfTheWhole) {
  const uint64_t count = 20000;
  for (cgx_element_type type : types) {
    const cgx_codec codec = codecOf(CGX_OPTIMIZER_ADAMW);
    const Kept kept = makeKept(count, CGX_BF16);
    const OptimizerTensors view = kept.view();
    const std::vector<uint8_t> elements = toElements(type, makeFloats(Shape::gradient, count, random));
    const std::vector<uint8_t> whole = through(codec, type, elements, &view);
    for (uint64_t chunks : {2u, 3u, 7u}) {
      std::vector<uint8_t> pieces;
      for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
        const uint64_t begin = cgx_chunk_begin(&codec, count, chunks, chunk),
                       end = cgx_chunk_begin(&codec, count, chunks, chunk + 1),
                       bytes = cgx_element_bytes(type);
        const std::vector<uint8_t> piece(elements.begin() + int64_t(begin * bytes),
                                         elements.begin() + int64_t(end * bytes));
        const std::vector<uint8_t> decoded =
            decodeWith(codec, type, encodeWith(codec, type, piece, &view, *GetParam(), begin), end - begin);
        pieces.insert(pieces.end(), decoded.begin(), decoded.end());
      }
      ASSERT_EQ(pieces, whole) << chunks << " chunks";
    }
  }
}

// The data are those of a trained network: gradients far below their parameters (takeaway 2 of the paper),
// and many zeros.
TEST_P(GcompTest, SettledGradientsTakeTwoFifthsOfTheirBytesAtMost) {
  const uint64_t count = 300000;
  std::vector<float> parameters(count);
  std::normal_distribution<float> normal;
  for (float &parameter : parameters)
    parameter = normal(random);
  Kept kept{toElements(CGX_F32, parameters), {}, {}, CGX_F32, 1};
  const OptimizerTensors view = kept.view();
  const std::vector<uint8_t> elements = toElements(CGX_F32, makeFloats(Shape::gradient, count, random));
  uint64_t bytes = 0;
  through(codecOf(CGX_OPTIMIZER_SGD), CGX_F32, elements, &view, &bytes);
  EXPECT_LT(double(bytes), 0.4 * 4 * double(count));
}

TEST_P(GcompTest, PayloadsAreNoLongerThanPredicted) {
  for (cgx_element_type type : types)
    for (Shape shape : allShapes)
      for (uint64_t count : lengths) {
        const cgx_codec codec = codecOf(CGX_OPTIMIZER_ADAM);
        const Kept kept = makeKept(count, CGX_F32);
        const OptimizerTensors view = kept.view();
        const std::vector<uint8_t> elements = toElements(type, makeFloats(shape, count, random));
        const Bytes room(cgx_payload_bytes(&codec, type, count)); // the sanitizer sees an access past its end
        EXPECT_LE(encode(codec, type, elements.data(), count, RandomKey{1}, 0,
                         const_cast<uint8_t *>(room.data()), *GetParam(), &view),
                  room.size());
      }
}

TEST_P(GcompTest, DamageDecodesAsByTheReference) {
  uint32_t refused = 0, decodedOnes = 0;
  for (uint32_t draw = 0; draw < 300; ++draw) {
    const cgx_element_type type = types[draw % 3];
    const uint64_t count = 1 + random() % 20000;
    const cgx_codec codec = codecOf(CGX_OPTIMIZER_MOMENTUM, uint32_t(random() % 8));
    const Kept kept = makeKept(count, type);
    const OptimizerTensors view = kept.view();
    const std::vector<uint8_t> elements =
        toElements(type, makeFloats(allShapes[random() % std::size(allShapes)], count, random));
    Bytes damaged(encodeWith(codec, type, elements, &view, *GetParam()), draw % 2);
    // Half of the draws hit offsets, table, or a block's header and levels.
    const uint64_t behindEnvelope = damaged.size() - 16;
    const uint64_t range = draw % 4 < 2 ? std::min<uint64_t>(200, behindEnvelope) : behindEnvelope;
    damaged.data()[16 + random() % range] ^= uint8_t(1 + random() % 255);
    Bytes output(elements.size()), expected(elements.size());
    const DecodeError error =
        decode(codec, type, damaged.data(), damaged.size(), count, output.data(), *GetParam());
    ASSERT_EQ(decode(codec, type, damaged.data(), damaged.size(), count, expected.data(),
                     *findImplementation("reference")),
              error)
        << "draw " << draw << ", CGX_TEST_SEED=" << testSeed();
    ASSERT_EQ(output.copy(), expected.copy()) << "draw " << draw << ", CGX_TEST_SEED=" << testSeed();
    ++(error == DecodeError::ok ? decodedOnes : refused);
  }
  EXPECT_GT(refused, 20u);
  EXPECT_GT(decodedOnes, 20u);
}

TEST(GcompCodec, ConstantsThatNoOptimizerHasAreRefused) {
  EXPECT_EQ(checkCodec(codecOf(CGX_OPTIMIZER_ADAM), CGX_F32), "");
  const auto refuses = [](auto change) {
    cgx_codec codec = codecOf(CGX_OPTIMIZER_ADAM);
    change(codec);
    return !checkCodec(codec, CGX_F32).empty();
  };
  EXPECT_TRUE(refuses([](cgx_codec &codec) { codec.optimizer = CGX_OPTIMIZER_COUNT; }));
  EXPECT_TRUE(refuses([](cgx_codec &codec) { codec.truncation = 8; }));
  EXPECT_TRUE(refuses([](cgx_codec &codec) { codec.learning_rate = -0.1f; }));
  EXPECT_TRUE(refuses([](cgx_codec &codec) { codec.learning_rate = INFINITY; }));
  EXPECT_TRUE(refuses([](cgx_codec &codec) { codec.weight_decay = -1; }));
  EXPECT_TRUE(refuses([](cgx_codec &codec) { codec.beta1 = 1; }));
  EXPECT_TRUE(refuses([](cgx_codec &codec) { codec.beta2 = NAN; }));
  EXPECT_TRUE(refuses([](cgx_codec &codec) { codec.epsilon = -1; }));
}

std::string implementationName(const testing::TestParamInfo<const Implementation *> &info) {
  return info.param->name;
}

INSTANTIATE_TEST_SUITE_P(All, GcompTest, testing::ValuesIn(supportedImplementations()), implementationName);

} // namespace
} // namespace cgx::test
