//===-- QuantizeVariantsTest.cpp - Other scalings, roundings and levels ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "cgx/arithmetic/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace cgx::test {
namespace {

class QuantizeVariantsTest : public testing::TestWithParam<std::tuple<const Implementation *, uint32_t>> {
protected:
  const Implementation &implementation() const { return *std::get<0>(GetParam()); }
  uint32_t bits() const { return std::get<1>(GetParam()); }

  std::vector<float> throughCodec(const cgx_codec &codec, const std::vector<float> &values,
                                  RandomKey key = RandomKey{1}) const {
    std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, values.size()));
    encode(codec, CGX_F32, values.data(), values.size(), key, 0, payload.data(), implementation());
    std::vector<float> decoded(values.size());
    EXPECT_EQ(decode(codec, CGX_F32, payload.data(), payload.size(), values.size(), decoded.data(),
                     implementation()),
              DecodeError::ok);
    return decoded;
  }

  /// Checks that the mean of many encodings comes near each element; `step(i)` is the distance of the levels
  /// around it, and `bias` the share of the whole span that fixed point may leave.
  template <typename Step>
  void expectUnbiased(const cgx_codec &codec, const std::vector<float> &values, double bias,
                      Step step) const {
    constexpr int draws = 2000;
    std::vector<double> mean(values.size());
    for (int draw = 0; draw < draws; ++draw) {
      const std::vector<float> decoded =
          throughCodec(codec, values, makeRandomKey(testSeed(), uint64_t(draw), 7, 0, 0));
      for (size_t i = 0; i < values.size(); ++i)
        mean[i] += double(decoded[i]) / draws;
    }
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_LE(std::abs(mean[i] - double(values[i])), double(step(i)) * 5 * 0.5 / std::sqrt(draws) + bias)
          << "element " << i << " = " << values[i] << ", CGX_TEST_SEED=" << testSeed();
  }

  double errorOf(const cgx_codec &codec, const std::vector<float> &values) const {
    const std::vector<float> decoded = throughCodec(codec, values);
    double error = 0;
    for (size_t i = 0; i < values.size(); ++i)
      error += std::pow(double(values[i]) - double(decoded[i]), 2);
    return error;
  }

  std::mt19937_64 random{testSeed()};
};

TEST_P(QuantizeVariantsTest, RandomShiftIsUnbiasedAndErrsByHalfAUnit) {
  const cgx_codec codec = {.family = CGX_CODEC_QUANTIZE,
                           .bits = bits(),
                           .bucket = 64,
                           .rounding = CGX_ROUND_RANDOM_SHIFT,
                           .scale = CGX_SCALE_F32};
  const std::vector<float> values = makeFloats(Shape::uniform, 64, random);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double unit = (double(*high) - double(*low)) / double((1 << bits()) - 2);
  for (uint64_t step = 0; step < 50; ++step) {
    const std::vector<float> decoded = throughCodec(codec, values, makeRandomKey(testSeed(), step, 0, 0, 0));
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_LE(std::abs(double(values[i]) - double(decoded[i])), unit * 0.5 + 0x1p-14);
  }
  expectUnbiased(codec, values, 0x1p-14, [&](size_t) { return unit; });
}

TEST_P(QuantizeVariantsTest, RandomShiftHoldsFarFromZero) {
  const cgx_codec codec = {.family = CGX_CODEC_QUANTIZE,
                           .bits = bits(),
                           .bucket = 64,
                           .rounding = CGX_ROUND_RANDOM_SHIFT,
                           .scale = CGX_SCALE_F32};
  for (uint64_t step = 0; step < 50; ++step) {
    const std::vector<float> values = makeFloats(Shape::offset, 640, random);
    const std::vector<float> decoded = throughCodec(codec, values, makeRandomKey(testSeed(), step, 0, 0, 0));
    for (size_t i = 0; i < values.size(); ++i) // the spread is 2e-3, and units are at least 100 * 2^-21
      ASSERT_LE(std::abs(values[i] - decoded[i]), 2e-3 / double((1 << bits()) - 2) + 100 * 0x1p-21);
  }
}

TEST_P(QuantizeVariantsTest, SymmetricalLevelsAreUnbiasedAndHoldZero) {
  for (uint32_t scaling : {CGX_SCALING_MAX_ABS, CGX_SCALING_L2})
    for (uint32_t scaleType : {CGX_SCALE_BF16, CGX_SCALE_F32}) {
      const cgx_codec codec = {.family = CGX_CODEC_QUANTIZE,
                               .bits = bits(),
                               .bucket = 64,
                               .rounding = CGX_ROUND_STOCHASTIC,
                               .scale = scaleType,
                               .scaling = scaling};
      std::vector<float> values = makeFloats(Shape::uniform, 64, random);
      values[5] = 0.0f, values[17] = -0.0f;
      double end = 0;
      for (float x : values)
        end = scaling == CGX_SCALING_L2 ? std::hypot(end, double(x)) : std::max(end, std::abs(double(x)));
      const double unit = end / double(symmetricSteps(bits())) * (1 + 0x1p-7);
      const std::vector<float> decoded = throughCodec(codec, values);
      EXPECT_EQ(decoded[5], 0.0f);
      EXPECT_EQ(decoded[17], 0.0f);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_LE(std::abs(double(values[i]) - double(decoded[i])), unit * (1 + 0x1p-8));
      expectUnbiased(codec, values, end * 0x1p-14, [&](size_t) { return unit; });
    }
}

TEST_P(QuantizeVariantsTest, ExponentialLevelsAreUnbiasedPowersOfTwoOfTheScale) {
  const cgx_codec codec = {.family = CGX_CODEC_QUANTIZE,
                           .bits = bits(),
                           .bucket = 64,
                           .rounding = CGX_ROUND_STOCHASTIC,
                           .scale = CGX_SCALE_F32,
                           .scaling = CGX_SCALING_MAX_ABS,
                           .levels = CGX_LEVELS_EXPONENTIAL};
  std::vector<float> values = makeFloats(Shape::uniform, 64, random);
  values[5] = 0.0f;
  float end = 0;
  for (float x : values)
    end = std::max(end, std::abs(x));
  const double first = std::ldexp(double(end), 1 - int(symmetricSteps(bits())));
  const std::vector<float> decoded = throughCodec(codec, values);
  EXPECT_EQ(decoded[5], 0.0f);
  for (size_t i = 0; i < values.size(); ++i) {
    const double share = std::abs(double(decoded[i])) / double(end);
    int exponent = 0;
    ASSERT_TRUE(share == 0 || std::frexp(share, &exponent) == 0.5) << decoded[i];
    ASSERT_GE(exponent, 2 - int(symmetricSteps(bits())) - 1);
    ASSERT_LE(std::abs(double(values[i]) - double(decoded[i])), std::max(first, std::abs(double(values[i]))));
  }
  expectUnbiased(codec, values, 0x1p-14,
                 [&](size_t i) { return std::max(first, 2 * std::abs(double(values[i]))); });
}

/// Tests of few bits. With many bits, learned levels gain nothing (QSDP, 5.7).
class FewBitsTest : public QuantizeVariantsTest {};

TEST_P(FewBitsTest, LearnedLevelsFitBellShapedDataBetter) {
  std::normal_distribution<float> normal;
  std::vector<float> values(16384);
  for (float &value : values)
    value = normal(random);
  cgx_codec codec = {
      .family = CGX_CODEC_QUANTIZE, .bits = bits(), .bucket = 1024, .rounding = CGX_ROUND_NEAREST};
  const double uniform = errorOf(codec, values);
  codec.levels = CGX_LEVELS_LEARNED;
  EXPECT_LT(errorOf(codec, values), uniform * (bits() < 5 ? 0.9 : 1.0));
}

TEST_P(QuantizeVariantsTest, LevelsThatAreGivenAreTaken) {
  const cgx_codec codec = {.family = CGX_CODEC_QUANTIZE,
                           .bits = bits(),
                           .bucket = 64,
                           .rounding = CGX_ROUND_NEAREST,
                           .scale = CGX_SCALE_F32,
                           .levels = CGX_LEVELS_LEARNED};
  std::vector<float> levels(size_t(1) << bits());
  for (size_t i = 0; i < levels.size(); ++i) // levels are closer together at the low end
    levels[i] = float(i * i) / float((levels.size() - 1) * (levels.size() - 1));
  std::vector<float> values(64 + 9), decoded(values.size());
  for (float &value : values) // all values are on levels, and all buckets span the levels
    value = levels[random() % levels.size()] * 8;
  values[0] = values[64] = 0;
  values[1] = values[65] = 8;
  std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, values.size()));
  encode(codec, CGX_F32, values.data(), values.size(), RandomKey{1}, 0, payload.data(), implementation(),
         /*optimizer=*/nullptr, levels.data());
  ASSERT_EQ(
      decode(codec, CGX_F32, payload.data(), payload.size(), values.size(), decoded.data(), implementation()),
      DecodeError::ok);
  EXPECT_EQ(decoded, values);
}

TEST_P(QuantizeVariantsTest, RotatedLevelsFitHeavyTailsBetter) {
  std::student_t_distribution<float> heavy(2.5f);
  std::vector<float> values(16384 + 100); // the last block is short
  for (float &value : values)
    value = heavy(random);
  cgx_codec codec = {
      .family = CGX_CODEC_QUANTIZE, .bits = bits(), .bucket = 1024, .rounding = CGX_ROUND_NEAREST};
  const double plain = errorOf(codec, values);
  codec.rotate = CGX_ROTATE_HADAMARD;
  EXPECT_LT(errorOf(codec, values), plain * 0.5);
}

TEST_P(QuantizeVariantsTest, LearnedLevelsAreUnbiasedWhenStochastic) {
  const cgx_codec codec = {.family = CGX_CODEC_QUANTIZE,
                           .bits = bits(),
                           .bucket = 64,
                           .rounding = CGX_ROUND_STOCHASTIC,
                           .scale = CGX_SCALE_F32,
                           .levels = CGX_LEVELS_LEARNED};
  const std::vector<float> values = makeFloats(Shape::uniform, 64, random);
  // Neighbouring levels are less than twice the even distance apart here.
  const double step = 2.0 * 2 / double((1 << bits()) - 1);
  expectUnbiased(codec, values, 0x1p-14, [&](size_t) { return step; });
}

std::string parameterName(const testing::TestParamInfo<QuantizeVariantsTest::ParamType> &info) {
  return std::string(std::get<0>(info.param)->name) + "_" + std::to_string(std::get<1>(info.param)) + "bits";
}

INSTANTIATE_TEST_SUITE_P(All, QuantizeVariantsTest,
                         testing::Combine(testing::ValuesIn(supportedImplementations()),
                                          testing::Values(2u, 3u, 4u, 5u, 8u)),
                         parameterName);
INSTANTIATE_TEST_SUITE_P(All, FewBitsTest,
                         testing::Combine(testing::ValuesIn(supportedImplementations()),
                                          testing::Values(2u, 3u, 4u, 5u)),
                         parameterName);

} // namespace
} // namespace cgx::test
