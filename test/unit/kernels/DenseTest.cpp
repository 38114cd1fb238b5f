//===-- DenseTest.cpp - The promises of ternary, sign, natural and cast ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "cgx/arithmetic/minifloat.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cgx::test {
namespace {

class DenseTest : public testing::TestWithParam<const Implementation *> {
protected:
  std::vector<float> throughCodec(const cgx_codec &codec, const std::vector<float> &values,
                                  RandomKey key = RandomKey{1}) const {
    std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, values.size()));
    encode(codec, CGX_F32, values.data(), values.size(), key, 0, payload.data(), *GetParam());
    std::vector<float> decoded(values.size());
    EXPECT_EQ(
        decode(codec, CGX_F32, payload.data(), payload.size(), values.size(), decoded.data(), *GetParam()),
        DecodeError::ok);
    return decoded;
  }

  /// Checks that the mean of many encodings comes near each element. `deviation(i)` bounds the standard
  /// deviation of one.
  template <typename Deviation>
  void expectUnbiased(const cgx_codec &codec, const std::vector<float> &values, Deviation deviation) const {
    constexpr int steps = 4000;
    std::vector<double> mean(values.size());
    for (int step = 0; step < steps; ++step) {
      const std::vector<float> decoded =
          throughCodec(codec, values, makeRandomKey(testSeed(), uint64_t(step), 5, 0, 0));
      for (size_t i = 0; i < values.size(); ++i)
        mean[i] += double(decoded[i]) / steps;
    }
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_LE(std::abs(mean[i] - double(values[i])), deviation(i) * (5 / std::sqrt(steps) + 0x1p-16))
          << "element " << i << " = " << values[i] << ", CGX_TEST_SEED=" << testSeed();
  }

  std::mt19937_64 random{testSeed()};
};

TEST_P(DenseTest, TernaryTakesThreeValuesAndIsUnbiased) {
  for (uint32_t scaleType : {CGX_SCALE_BF16, CGX_SCALE_F32}) {
    const cgx_codec codec = {.family = CGX_CODEC_TERNARY, .bucket = 64, .scale = scaleType};
    std::vector<float> values = makeFloats(Shape::uniform, 200, random);
    values[3] = 0.0f;
    std::vector<float> scales;
    for (size_t begin = 0; begin < values.size(); begin += 64) {
      float largest = 0;
      for (size_t i = begin; i < std::min<size_t>(begin + 64, values.size()); ++i)
        largest = std::max(largest, std::abs(values[i]));
      scales.push_back(scaleNotBelow(largest, scaleType));
    }
    const std::vector<float> decoded = throughCodec(codec, values);
    EXPECT_EQ(decoded[3], 0.0f);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_TRUE(decoded[i] == 0.0f || decoded[i] == std::copysign(scales[i / 64], values[i]));
    expectUnbiased(codec, values, [&](size_t i) { return scales[i / 64] * 0.5f; });
  }
}

TEST_P(DenseTest, TernaryIsExactAtItsScale) {
  const cgx_codec codec = {.family = CGX_CODEC_TERNARY, .bucket = 64, .scale = CGX_SCALE_F32};
  for (float scale : {0x1p-149f, 0x1.8p-127f, 0x1p-100f, 1.2345f, 3.4e38f}) {
    std::vector<float> values(130, scale);
    for (size_t i = 0; i < values.size(); i += 3)
      values[i] = i % 2 ? 0.0f : -scale;
    EXPECT_EQ(throughCodec(codec, values), values) << scale;
  }
}

TEST_P(DenseTest, SignKeepsTheMeanOfEachSign) {
  for (uint32_t bucket : {64u, 37u, 512u}) {
    const cgx_codec codec = {.family = CGX_CODEC_SIGN, .bucket = bucket, .scale = CGX_SCALE_F32};
    const std::vector<float> values = makeFloats(Shape::uniform, 1000, random);
    const std::vector<float> decoded = throughCodec(codec, values);
    for (size_t begin = 0; begin < values.size(); begin += bucket) {
      double sums[2] = {}, counts[2] = {};
      const size_t end = std::min<size_t>(begin + bucket, values.size());
      for (size_t i = begin; i < end; ++i) {
        sums[values[i] < 0] += double(values[i]);
        ++counts[values[i] < 0];
      }
      for (size_t i = begin; i < end; ++i) {
        const bool sign = values[i] < 0;
        ASSERT_NEAR(decoded[i], sums[sign] / counts[sign], 1e-6) << "element " << i;
      }
    }
  }
}

TEST_P(DenseTest, SignScaledByTheNormHasTheNormOfTheBucket) {
  const cgx_codec codec = {
      .family = CGX_CODEC_SIGN, .bucket = 100, .scale = CGX_SCALE_F32, .magnitude = CGX_SIGN_NORM};
  const std::vector<float> values = makeFloats(Shape::gradient, 100, random);
  double norm = 0, decodedNorm = 0;
  const std::vector<float> decoded = throughCodec(codec, values);
  for (size_t i = 0; i < values.size(); ++i) {
    norm += std::abs(double(values[i]));
    decodedNorm += std::abs(double(decoded[i]));
    ASSERT_EQ(decoded[i] < 0, values[i] < 0);
  }
  EXPECT_NEAR(decodedNorm, norm, norm * 1e-6);
}

TEST_P(DenseTest, SignDoesNotOverflow) {
  const cgx_codec codec = {.family = CGX_CODEC_SIGN, .bucket = 128};
  for (float value : throughCodec(codec, makeFloats(Shape::huge, 1000, random)))
    ASSERT_TRUE(std::isfinite(value));
}

TEST_P(DenseTest, NaturalRoundsToNeighbouringPowersOfTwoAndIsUnbiased) {
  const cgx_codec codec = {.family = CGX_CODEC_NATURAL};
  const std::vector<float> values = makeFloats(Shape::uniform, 200, random);
  const std::vector<float> decoded = throughCodec(codec, values);
  for (size_t i = 0; i < values.size(); ++i) {
    int exponent;
    ASSERT_EQ(std::abs(std::frexp(decoded[i], &exponent)), 0.5f) << "a power of two, got " << decoded[i];
    ASSERT_GT(decoded[i] / values[i], 0.5f);
    ASSERT_LE(decoded[i] / values[i], 2.0f);
  }
  // The variance of natural compression is at most an eighth of the square.
  expectUnbiased(codec, values, [&](size_t i) { return std::abs(values[i]) * std::sqrt(0.125f); });
}

TEST_P(DenseTest, NaturalIsExactForPowersOfTwo) {
  std::vector<float> values = {0.0f};
  for (int exponent = -126; exponent <= 127; ++exponent)
    values.push_back(std::ldexp(exponent % 2 ? 1.0f : -1.0f, exponent));
  EXPECT_EQ(throughCodec({.family = CGX_CODEC_NATURAL}, values), values);
}

TEST_P(DenseTest, CastToSixteenBitsRounds) {
  const std::vector<float> values = makeFloats(Shape::uniform, 1000, random);
  const std::vector<float> bf16 = throughCodec({.family = CGX_CODEC_CAST, .format = CGX_FORMAT_BF16}, values);
  const std::vector<float> f16 = throughCodec({.family = CGX_CODEC_CAST, .format = CGX_FORMAT_F16}, values);
  EXPECT_EQ(bf16, toFloats(CGX_BF16, toElements(CGX_BF16, values).data(), values.size()));
  EXPECT_EQ(f16, toFloats(CGX_F16, toElements(CGX_F16, values).data(), values.size()));
}

TEST_P(DenseTest, CastToEightBitsErrsByHalfALastPlace) {
  struct {
    cgx_format format;
    const MiniFormat &mini;
  } formats[] = {{CGX_FORMAT_FP8_E4M3, e4m3}, {CGX_FORMAT_FP8_E5M2, e5m2}};
  for (const auto &[format, mini] : formats)
    for (Shape shape : {Shape::gradient, Shape::uniform, Shape::huge, Shape::offset}) {
      const cgx_codec codec = {.family = CGX_CODEC_CAST, .bucket = 128, .format = uint32_t(format)};
      const std::vector<float> values = makeFloats(shape, 1280, random),
                               decoded = throughCodec(codec, values);
      for (size_t i = 0; i < values.size(); ++i) {
        float largest = 0;
        for (size_t k = i / 128 * 128; k < i / 128 * 128 + 128; ++k)
          largest = std::max(largest, std::abs(values[k]));
        const double unit = double(largest) / double(mini.largest) * (1 + 0x1p-7);
        const double place = std::max(std::abs(double(values[i])) * std::ldexp(1.0, -int(mini.mantissaBits)),
                                      unit * double(mini.subnormalUnit));
        ASSERT_LE(std::abs(double(values[i]) - double(decoded[i])), place * 0.5 * (1 + 0x1p-6))
            << shapeName(shape) << ", element " << i << " = " << values[i];
      }
    }
}

TEST_P(DenseTest, CastToMxIsWhatTheSpecificationSays) {
  // A block whose largest magnitude is 3 has the scale 2^(1 - 8) in mxfp8, 2^(1 - 2) in mxfp4.
  std::vector<float> values(32, 0.0f);
  values[0] = 3.0f, values[1] = -1.3f, values[2] = 0.26f, values[3] = 0.1f, values[20] = 2.4f;
  const std::vector<float> mxfp4 =
      throughCodec({.family = CGX_CODEC_CAST, .bucket = 32, .format = CGX_FORMAT_MXFP4}, values);
  EXPECT_EQ((std::vector<float>{mxfp4[0], mxfp4[1], mxfp4[2], mxfp4[3], mxfp4[20]}),
            (std::vector<float>{3.0f, -1.5f, 0.25f, 0.0f, 2.0f}));
  const std::vector<float> mxfp8 =
      throughCodec({.family = CGX_CODEC_CAST, .bucket = 32, .format = CGX_FORMAT_MXFP8}, values);
  EXPECT_EQ((std::vector<float>{mxfp8[0], mxfp8[1], mxfp8[2], mxfp8[20]}),
            (std::vector<float>{3.0f, -1.25f, 0.25f, 2.5f}));
}

INSTANTIATE_TEST_SUITE_P(All, DenseTest, testing::ValuesIn(supportedImplementations()),
                         [](const auto &info) { return std::string(info.param->name); });

TEST(MiniFloatTest, EveryCodeIsTheNearestOfItsValue) {
  for (const MiniFormat &format : {e4m3, e5m2, e2m1})
    for (uint32_t code = 0; code < 1u << format.codeBits; ++code) {
      const float value = miniValue(format, code);
      if (std::isfinite(value)) {
        ASSERT_EQ(miniCode(format, value), code) << value;
      }
    }
}

TEST(MiniFloatTest, RoundsToTheNearestTiesToEven) {
  for (const MiniFormat &format : {e4m3, e5m2, e2m1})
    for (uint32_t code = 0; code < format.largestCode; ++code) {
      const float low = miniValue(format, code), high = miniValue(format, code + 1),
                  middle = (low + high) / 2;
      ASSERT_EQ(miniCode(format, middle), code + code % 2) << middle;
      ASSERT_EQ(miniCode(format, std::nextafter(middle, low)), code);
      ASSERT_EQ(miniCode(format, std::nextafter(middle, high)), code + 1);
    }
  EXPECT_EQ(miniValue(e4m3, miniCode(e4m3, 1e9f)), 448.0f);
  EXPECT_EQ(miniValue(e5m2, miniCode(e5m2, -1e9f)), -57344.0f);
  EXPECT_EQ(miniValue(e2m1, miniCode(e2m1, 7.9f)), 6.0f);
}

} // namespace
} // namespace cgx::test
