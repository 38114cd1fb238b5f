//===-- EdenTest.cpp - Errors and biases of eden --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The errors for normal and Student's t data were computed by a plain reference in NumPy, with rotations in
// f64 and scales that are not rounded. After two rotations nearly sparse data are as normal as any, so their
// error is that of the levels: d / (1 - d), where d is their distortion.

#include "Inputs.h"
#include "cgx/arithmetic/eden_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cgx::test {
namespace {

constexpr float largest = std::numeric_limits<float>::max();

cgx_codec eden(uint32_t bits, uint32_t bucket, cgx_scale_type scale = CGX_SCALE_BF16) {
  return {.family = CGX_CODEC_EDEN, .bits = bits, .bucket = bucket, .scale = uint32_t(scale)};
}

std::vector<uint8_t> encoded(const cgx_codec &codec, const std::vector<float> &values, RandomKey key) {
  std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, values.size()));
  EXPECT_EQ(encodeFromF32(codec, CGX_F32, values.data(), values.size(), key, 0, payload.data()),
            payload.size());
  return payload;
}

std::vector<float> throughCodec(const cgx_codec &codec, const std::vector<float> &values, RandomKey key) {
  const std::vector<uint8_t> payload = encoded(codec, values, key);
  std::vector<float> found(values.size());
  EXPECT_EQ(decode(codec, CGX_F32, payload.data(), payload.size(), values.size(), found.data()),
            DecodeError::ok);
  return found;
}

/// Returns the result of an all-reduce: the sum of the decoded contributions, encoded again by its owner.
std::vector<float> throughSum(const cgx_codec &codec, const std::vector<std::vector<float>> &ranks,
                              uint64_t seed) {
  std::vector<float> sum(ranks[0].size(), 0.0f);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<uint8_t> payload =
        encoded(codec, ranks[rank], makeRandomKey(seed, /*step=*/3, /*layerId=*/1, rank, /*phase=*/0));
    EXPECT_EQ(decodeAccumulate(codec, CGX_F32, payload.data(), payload.size(), sum.size(), sum.data()),
              DecodeError::ok);
  }
  return throughCodec(codec, sum, makeRandomKey(seed, /*step=*/3, /*layerId=*/1, /*rank=*/0, /*phase=*/1));
}

double squares(const std::vector<float> &values) {
  double sum = 0;
  for (float value : values)
    sum += double(value) * value;
  return sum;
}

double squaredDistance(const std::vector<float> &a, const std::vector<float> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
  return sum;
}

/// The error and the bias of an estimate over many seeds, as sums of squares over all elements.
struct Estimate {
  double error = 0; ///< the mean over seeds of the error of one seed
  double bias = 0;  ///< the error of the mean of all seeds, less what chance explains
};
template <typename Draw>
Estimate estimateOver(uint64_t seeds, const std::vector<float> &expected, const Draw &draw) {
  std::vector<double> mean(expected.size(), 0);
  Estimate found;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<float> values = draw(seed);
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] += (double(values[i]) - expected[i]) / double(seeds);
    found.error += squaredDistance(values, expected) / double(seeds);
  }
  for (double one : mean)
    found.bias += one * one;
  found.bias -= found.error / double(seeds);
  return found;
}

/// Returns elements of which k, at random places, are not zero.
std::vector<float> makeSparse(size_t elements, size_t k, std::mt19937_64 &random, bool isEqual) {
  std::normal_distribution<float> normal;
  std::vector<float> values(elements, 0.0f);
  for (size_t placed = 0; placed < k;)
    if (float &value = values[random() % elements]; value == 0) {
      value = isEqual ? 1.0f : normal(random);
      ++placed;
    }
  return values;
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

double density(double x) { return std::isinf(x) ? 0 : std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0)); }
double above(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }

/// Solves for levels that are the means of their cells by Newton's method, whose matrix has three diagonals.
std::vector<double> solveLevels(std::vector<double> levels) {
  const size_t count = levels.size();
  for (int round = 0; round < 20; ++round) {
    std::vector<double> ends = {0}, up(count), right(count);
    for (size_t i = 0; i + 1 < count; ++i)
      ends.push_back((levels[i] + levels[i + 1]) / 2);
    ends.push_back(INFINITY);
    for (size_t i = 0; i < count; ++i) {
      const double lower = ends[i], upper = ends[i + 1], share = above(lower) - above(upper);
      const double wrong = levels[i] * share - (density(lower) - density(upper));
      const double below = i == 0 ? 0 : (lower - levels[i]) * density(lower) / 2;
      const double next = i + 1 == count ? 0 : (levels[i] - upper) * density(upper) / 2;
      const double pivot = share + below + next - (i == 0 ? 0 : below * up[i - 1]);
      up[i] = next / pivot;
      right[i] = (wrong - (i == 0 ? 0 : below * right[i - 1])) / pivot;
    }
    for (size_t i = count; i-- > 0;) {
      right[i] -= i + 1 == count ? 0 : up[i] * right[i + 1];
      levels[i] -= right[i];
    }
  }
  return levels;
}

TEST(EdenLevels, AreTheMeansOfWhatIsNearestToThem) {
  // The search starts from other levels than the constants, so that these are found and not only confirmed.
  for (uint32_t bits = 1; bits <= 8; ++bits) {
    std::vector<double> start;
    for (uint32_t i = 0; i < 1u << (bits - 1); ++i)
      start.push_back(double(normalLevels(bits)[i]) * 1.001);
    const std::vector<double> found = solveLevels(start);
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(float(found[i]), normalLevels(bits)[i]) << "level " << i << " of " << bits << " bits";
  }
}

TEST(EdenLevels, TheNearestIsFound) {
  for (uint32_t bits = 1; bits <= 8; ++bits)
    for (float x = 0; x < 6; x += 0.0007f) {
      const float *levels = normalLevels(bits);
      uint32_t nearest = 0;
      for (uint32_t i = 1; i < 1u << (bits - 1); ++i)
        if (std::abs(levels[i] - x) < std::abs(levels[nearest] - x))
          nearest = i;
      const float found = levels[nearestNormalLevel(levels, bits, x)];
      ASSERT_NEAR(std::abs(found - x), std::abs(levels[nearest] - x), 1e-6f) << bits << " bits, " << x;
    }
}

//===----------------------------------------------------------------------===//
// Error
//===----------------------------------------------------------------------===//

struct ErrorCase {
  const char *data;
  uint32_t bits, bucket;
  double error; ///< relative to the squares of the elements
};
const ErrorCase errors[] = {
    {"normal", 2, 128, .131},         {"normal", 3, 128, .0348},        {"normal", 4, 128, .0092},
    {"normal", 8, 128, 4.3e-5},       {"student", 2, 128, .123},        {"student", 3, 128, .0332},
    {"student", 4, 128, .0089},       {"student", 8, 128, 4.0e-5},      {"nearlySparse", 2, 1024, .133},
    {"nearlySparse", 3, 1024, .0358}, {"nearlySparse", 4, 1024, .0096}, {"nearlySparse", 8, 1024, 4.1e-5}};

std::vector<float> makeData(const std::string &data, uint64_t elements, std::mt19937_64 &random) {
  std::normal_distribution<float> normal;
  std::student_t_distribution<float> student(3);
  std::vector<float> values(elements);
  for (float &value : values)
    value = data == "student"  ? student(random)
            : data == "normal" ? normal(random)
                               : normal(random) * (random() % 50 == 0 ? 1.0f : 0.01f);
  return values;
}

TEST(Eden, ErrorsAreThoseOfTheEstimator) {
  for (const ErrorCase &of : errors) {
    std::mt19937_64 random(testSeed());
    double error = 0;
    constexpr int draws = 12;
    for (int draw = 0; draw < draws; ++draw) {
      const std::vector<float> values = makeData(of.data, 16384, random);
      const cgx_codec codec = eden(of.bits, of.bucket, CGX_SCALE_F32);
      error +=
          squaredDistance(throughCodec(codec, values, RandomKey{random()}), values) / squares(values) / draws;
    }
    EXPECT_NEAR(error / of.error, 1, 0.1) << of.data << ", " << of.bits << " bits: " << error;
  }
}

//===----------------------------------------------------------------------===//
// Bias
//===----------------------------------------------------------------------===//

TEST(Eden, BlocksOfAFewElementsAreUnbiased) {
  std::mt19937_64 random(testSeed());
  for (auto [bucket, elements] : {std::pair(128u, 128u), {128u, 40u}, {64u, 64u}, {1024u, 1024u}})
    for (uint32_t bits : {1u, 2u, 4u})
      for (size_t k : {1u, 2u, 3u, 5u, 10u, 30u, elements})
        for (bool isEqual : {false, true}) {
          if (k > elements)
            continue;
          const std::vector<float> values = makeSparse(elements, k, random, isEqual);
          const cgx_codec codec = eden(bits, bucket);
          const Estimate found = estimateOver(elements > 128 ? 400 : 1000, values, [&](uint64_t seed) {
            return throughCodec(codec, values, makeRandomKey(testSeed() + seed, 1, 2, 0, 0));
          });
          // A single element is exact except for its scale, which has no bias either.
          EXPECT_LT(found.bias, 0.05 * found.error + 1e-9 * squares(values))
              << k << " of " << elements << " elements in a bucket of " << bucket << ", " << bits << " bits";
        }
}

TEST(Eden, ScalesAreRoundedWithoutBias) {
  // With eight bits, the error is not much larger than that of a scale in bf16.
  std::mt19937_64 random(testSeed());
  const std::vector<float> values = makeData("normal", 512, random);
  const Estimate found = estimateOver(1000, values, [&](uint64_t seed) {
    return throughCodec(eden(8, 512), values, makeRandomKey(seed, 1, 2, 0, 0));
  });
  EXPECT_LT(found.bias, 0.02 * found.error);
  EXPECT_LT(found.error, 1.3 * 4.3e-5 * squares(values));
}

TEST(Eden, SumsAreUnbiasedAfterTheirOwnersEncodedThem) {
  std::mt19937_64 random(testSeed());
  for (size_t k : {2u, 5u, 500u}) {
    std::vector<std::vector<float>> ranks;
    std::vector<float> sum(500, 0.0f);
    for (int rank = 0; rank < 4; ++rank) {
      ranks.push_back(k == 500 ? makeData("normal", 500, random) : makeSparse(500, k, random, true));
      for (size_t i = 0; i < sum.size(); ++i)
        sum[i] += ranks.back()[i];
    }
    const Estimate found =
        estimateOver(600, sum, [&](uint64_t seed) { return throughSum(eden(3, 128), ranks, seed); });
    EXPECT_LT(found.bias, 0.05 * found.error) << k;
    if (k == 500) {
      EXPECT_GT(found.error, 1.8 * .0348 * squares(sum));
      EXPECT_LT(found.error, 2.4 * .0348 * squares(sum));
    }
  }
}

//===----------------------------------------------------------------------===//
// The ends
//===----------------------------------------------------------------------===//

TEST(Eden, LastBucketsAreFilledUpToAPowerOfTwo) {
  const cgx_codec codec = eden(4, 512);
  for (auto [elements, rotated] : {std::pair(1u, 64u),
                                   {63u, 64u},
                                   {64u, 64u},
                                   {65u, 128u},
                                   {129u, 256u},
                                   {511u, 512u},
                                   {512u, 512u},
                                   {513u, 576u},
                                   {1500u, 1536u}}) {
    EXPECT_EQ(cgx_eden_rotated_elements(&codec, elements), rotated);
    EXPECT_EQ(cgx_payload_bytes(&codec, CGX_F16, elements),
              8u + 8 + (elements + 511) / 512 * 2 + rotated / 2);
  }
}

TEST(Eden, OneElementComesBack) {
  for (uint32_t bits = 1; bits <= 8; ++bits)
    for (float value : {1.0f, -3.7f, 1e-30f, -1e30f, largest / 16, 1e-38f})
      for (uint64_t key = 0; key < 8; ++key) {
        const float found = throughCodec(eden(bits, 128, CGX_SCALE_F32), {value}, RandomKey{key})[0];
        ASSERT_NEAR(found / value, 1, 2e-6) << bits << " bits, " << value;
      }
}

TEST(Eden, ZerosStayZero) {
  for (float value : throughCodec(eden(4, 64), std::vector<float>(1000, -0.0f), RandomKey{9}))
    ASSERT_EQ(value, 0.0f);
}

TEST(Eden, TheLargestAndTheSmallestElementsKeepTheirErrors) {
  std::mt19937_64 random(testSeed());
  for (float unit : {largest / 6, 1e30f, 1e-36f, 1e-41f}) {
    std::vector<float> values = makeData("normal", 4096, random), scaled = values;
    for (size_t i = 0; i < values.size(); ++i)
      scaled[i] = std::clamp(values[i] * unit, -largest, largest);
    std::vector<float> found = throughCodec(eden(4, 128, CGX_SCALE_F32), scaled, RandomKey{4});
    double error = 0, all = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_TRUE(std::isfinite(found[i])) << unit;
      error += std::pow((double(found[i]) - scaled[i]) / unit, 2);
      all += std::pow(double(scaled[i]) / unit, 2);
    }
    EXPECT_NEAR(error / all / .0092, 1, 0.15) << unit;
  }
}

TEST(Eden, PayloadsOfARankAndAStepHaveSignsOfTheirOwn) {
  std::mt19937_64 random(testSeed());
  const std::vector<float> values = makeData("normal", 128, random);
  const std::vector<uint8_t> one = encoded(eden(4, 128), values, makeRandomKey(1, 2, 3, 4, 0));
  EXPECT_EQ(encoded(eden(4, 128), values, makeRandomKey(1, 2, 3, 4, 0)), one);
  for (RandomKey key :
       {makeRandomKey(2, 2, 3, 4, 0), makeRandomKey(1, 3, 3, 4, 0), makeRandomKey(1, 2, 4, 4, 0),
        makeRandomKey(1, 2, 3, 5, 0), makeRandomKey(1, 2, 3, 4, 1)})
    EXPECT_NE(encoded(eden(4, 128), values, key), one);
}

} // namespace
} // namespace cgx::test
