//===-- QuantizeTest.cpp - The promises of quantize -----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "cgx/arithmetic/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

namespace cgx::test {
namespace {

/// Returns the stored scales of a payload, in f32.
std::vector<BucketScale> scalesOf(const cgx_codec &codec, const std::vector<uint8_t> &payload,
                                  uint64_t elements) {
  std::vector<BucketScale> scales((elements + codec.bucket - 1) / codec.bucket);
  const uint8_t *bytes = payload.data() + CGX_PAYLOAD_HEADER_BYTES;
  for (BucketScale &scale : scales) {
    if (codec.scale == CGX_SCALE_F32) {
      memcpy(&scale, bytes, 8);
      bytes += 8;
    } else {
      uint16_t pair[2];
      memcpy(pair, bytes, 4);
      scale = {floatFromBfloat16(pair[0]), floatFromBfloat16(pair[1])};
      bytes += 4;
    }
  }
  return scales;
}

/// Returns the largest distance of a value from its rounding to `type`.
double roundingError(cgx_element_type type, double magnitude) {
  switch (type) {
  case CGX_F16:
    return std::max(magnitude * 0x1p-11, 0x1p-25);
  case CGX_BF16:
    return std::max(magnitude * 0x1p-8, 0x1p-134);
  default:
    return std::max(magnitude * 0x1p-24, 0x1p-150);
  }
}

using Parameters = std::tuple<const Implementation *, cgx_element_type, uint32_t>;

class QuantizeTest : public testing::TestWithParam<Parameters> {
protected:
  const Implementation &implementation() const { return *std::get<0>(GetParam()); }
  cgx_element_type type() const { return std::get<1>(GetParam()); }
  uint32_t bits() const { return std::get<2>(GetParam()); }

  std::vector<uint8_t> encodeValues(const cgx_codec &codec, const std::vector<float> &values,
                                    uint64_t firstElement = 0, RandomKey key = RandomKey{1}) const {
    const std::vector<uint8_t> input = toElements(type(), values);
    std::vector<uint8_t> payload(cgx_payload_bytes(&codec, type(), values.size()));
    encode(codec, type(), input.data(), values.size(), key, firstElement, payload.data(), implementation());
    return payload;
  }

  std::vector<float> decodeValues(const cgx_codec &codec, const std::vector<uint8_t> &payload,
                                  uint64_t elements) const {
    std::vector<uint8_t> output(elements * cgx_element_bytes(type()));
    EXPECT_EQ(
        decode(codec, type(), payload.data(), payload.size(), elements, output.data(), implementation()),
        DecodeError::ok);
    return toFloats(type(), output.data(), elements);
  }

  /// Returns `values` rounded to the element type and widened again.
  std::vector<float> rounded(const std::vector<float> &values) const {
    return toFloats(type(), toElements(type(), values).data(), values.size());
  }
};

TEST_P(QuantizeTest, StaysWithinOneUnitOfTheInput) {
  std::mt19937_64 random(testSeed());
  for (Shape shape : {Shape::gradient, Shape::uniform, Shape::wide, Shape::huge, Shape::tiny, Shape::constant,
                      Shape::offset})
    for (cgx_scale_type scale : {CGX_SCALE_BF16, CGX_SCALE_F32})
      for (cgx_rounding rounding : {CGX_ROUND_NEAREST, CGX_ROUND_STOCHASTIC}) {
        const cgx_codec codec = quantizeCodec(bits(), 64, rounding, scale);
        const std::vector<float> values = rounded(makeFloats(shape, 2000, random));
        const std::vector<uint8_t> payload = encodeValues(codec, values);
        const std::vector<BucketScale> scales = scalesOf(codec, payload, values.size());
        const std::vector<float> decoded = decodeValues(codec, payload, values.size());
        for (size_t i = 0; i < values.size(); ++i) {
          const BucketScale &of = scales[i / codec.bucket];
          if (!isFinite(of.unit)) { // a range beyond the scale type, with 1 bit
            ASSERT_TRUE(std::isnan(decoded[i]));
            continue;
          }
          const double unit = of.unit, levels = (1 << bits()) - 1;
          // The bound adds half a level or one, the error of fixed point, and the roundings of unit, level
          // and value.
          const double bound = unit * (rounding == CGX_ROUND_NEAREST ? 0.5 : 1.0) + unit * levels * 0x1p-16 +
                               unit * levels * 0x1p-21 +
                               roundingError(type(), std::abs(double(values[i])) + unit);
          ASSERT_LE(std::abs(double(values[i]) - double(decoded[i])), bound)
              << describe(codec) << ", " << shapeName(shape) << ", element " << i << " = " << values[i]
              << ", unit " << unit << ", minimum " << of.minimum << ", CGX_TEST_SEED=" << testSeed();
        }
      }
}

TEST_P(QuantizeTest, CoversTheBucketsRange) {
  std::mt19937_64 random(testSeed());
  for (cgx_scale_type type : {CGX_SCALE_BF16, CGX_SCALE_F32}) {
    const cgx_codec codec = quantizeCodec(bits(), 32, CGX_ROUND_NEAREST, type);
    const std::vector<float> values = rounded(makeFloats(Shape::gradient, 3200, random));
    const std::vector<BucketScale> scales = scalesOf(codec, encodeValues(codec, values), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const BucketScale &scale = scales[i / codec.bucket];
      const double range = double(scale.unit) * ((1 << bits()) - 1), top = double(scale.minimum) + range;
      ASSERT_LE(scale.minimum, values[i]);
      ASSERT_GE(top + range * 0x1p-22, values[i]); // the range and the unit are rounded once each
    }
  }
}

TEST_P(QuantizeTest, IsExactForOneRepresentableValue) {
  for (float value : {0.0f, 1.0f, -2.5f, 0x1p-14f, 96.0f}) {
    for (cgx_scale_type scale : {CGX_SCALE_BF16, CGX_SCALE_F32}) {
      const cgx_codec codec = quantizeCodec(bits(), 128, CGX_ROUND_STOCHASTIC, scale);
      const std::vector<float> values(300, value);
      for (float decoded : decodeValues(codec, encodeValues(codec, values), values.size()))
        ASSERT_EQ(decoded, value) << describe(codec);
    }
  }
  // A value that bf16 does not hold is exact with f32 scales.
  const cgx_codec codec = quantizeCodec(bits(), 128, CGX_ROUND_STOCHASTIC, CGX_SCALE_F32);
  const std::vector<float> values = rounded(std::vector<float>(300, 1.00390625f + 0x1p-9f));
  EXPECT_EQ(decodeValues(codec, encodeValues(codec, values), values.size()), values);
}

TEST_P(QuantizeTest, ReproducesLevelsThatLieOnUnits) {
  // Values minimum + k * unit whose terms are representable are exact with either rounding.
  std::mt19937_64 random(testSeed());
  const uint32_t top = (1u << bits()) - 1;
  std::vector<float> values(1024);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = -1.0f + 0.0078125f * float(i % 32 == 0 ? 0 : i % 32 == 1 ? top : random() % (top + 1));
  for (cgx_rounding rounding : {CGX_ROUND_NEAREST, CGX_ROUND_STOCHASTIC}) {
    const cgx_codec codec = quantizeCodec(bits(), 32, rounding, CGX_SCALE_BF16);
    EXPECT_EQ(decodeValues(codec, encodeValues(codec, values), values.size()), rounded(values))
        << describe(codec);
  }
}

TEST_P(QuantizeTest, PoisonsTheBucketOfWhatIsNotFiniteAndNoOther) {
  std::mt19937_64 random(testSeed());
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  for (uint32_t bucket : {1u, 31u, 32u, 128u, 1000u})
    for (float poison : {nan, infinity, -infinity, -nan})
      for (cgx_scale_type scale : {CGX_SCALE_BF16, CGX_SCALE_F32}) {
        const cgx_codec codec = quantizeCodec(bits(), bucket, CGX_ROUND_STOCHASTIC, scale);
        std::vector<float> values = makeFloats(Shape::uniform, 4 * bucket + 17, random);
        const std::vector<float> clean = decodeValues(codec, encodeValues(codec, values), values.size());
        const size_t at = random() % values.size();
        values[at] = poison;
        const std::vector<float> decoded = decodeValues(codec, encodeValues(codec, values), values.size());
        for (size_t i = 0; i < values.size(); ++i) {
          if (i / bucket == at / bucket)
            ASSERT_TRUE(std::isnan(decoded[i]))
                << describe(codec) << ", element " << i << ", poison at " << at;
          else
            ASSERT_EQ(decoded[i], clean[i]) << describe(codec) << ", element " << i << ", poison at " << at;
        }
        std::vector<float> sum(values.size(), 1.0f);
        const std::vector<uint8_t> payload = encodeValues(codec, values);
        ASSERT_EQ(decodeAccumulate(codec, type(), payload.data(), payload.size(), sum.size(), sum.data(),
                                   implementation()),
                  DecodeError::ok);
        for (size_t i = 0; i < sum.size(); ++i)
          ASSERT_EQ(std::isnan(sum[i]), i / bucket == at / bucket);
      }
}

/// Tests of types for which a sum in f32 may be too large.
class NarrowQuantizeTest : public QuantizeTest {};

TEST_P(NarrowQuantizeTest, AnOverflowingSumIsNotFinite) {
  const cgx_codec codec = quantizeCodec(bits(), 128);
  std::vector<float> sum(256, 1.0f);
  sum[200] = 3.4e38f;
  std::vector<uint8_t> payload(cgx_payload_bytes(&codec, type(), sum.size()));
  encodeFromF32(codec, type(), sum.data(), sum.size(), RandomKey{1}, 0, payload.data(), implementation());
  const std::vector<float> decoded = decodeValues(codec, payload, sum.size());
  EXPECT_EQ(decoded[0], 1.0f);
  EXPECT_TRUE(std::isnan(decoded[200]));
}

TEST_P(QuantizeTest, FiniteStaysFiniteAtTheTopOfTheType) {
  // Rounding the unit up would carry the top level past the type's largest value.
  const float top = type() == CGX_F16 ? 65504.0f : 3.3e38f;
  std::vector<float> values(256, top);
  for (size_t i = 0; i < values.size(); i += 3)
    values[i] = 0.0f;
  const cgx_codec codec = quantizeCodec(bits(), 128);
  for (float decoded : decodeValues(codec, encodeValues(codec, values), values.size()))
    ASSERT_TRUE(std::isfinite(decoded));
}

TEST_P(QuantizeTest, PiecesHaveTheLevelsOfTheWhole) {
  std::mt19937_64 random(testSeed());
  for (uint32_t bucket : {16u, 100u, 128u, 512u}) {
    const cgx_codec codec = quantizeCodec(bits(), bucket);
    const std::vector<float> values = rounded(makeFloats(Shape::gradient, 20 * bucket + 7, random));
    const std::vector<float> whole = decodeValues(codec, encodeValues(codec, values), values.size());
    for (uint64_t chunks : {2u, 3u, 4u, 7u}) {
      std::vector<float> pieces;
      for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
        const uint64_t begin = cgx_chunk_begin(&codec, values.size(), chunks, chunk);
        const uint64_t end = cgx_chunk_begin(&codec, values.size(), chunks, chunk + 1);
        const std::vector<float> part(values.begin() + begin, values.begin() + end);
        const std::vector<float> decoded = decodeValues(codec, encodeValues(codec, part, begin), part.size());
        pieces.insert(pieces.end(), decoded.begin(), decoded.end());
      }
      ASSERT_EQ(pieces, whole) << describe(codec) << ", " << chunks << " chunks";
    }
  }
}

TEST_P(QuantizeTest, StochasticRoundingIsUnbiased) {
  // The mean of many encodings of one tensor comes near it, element by element.
  constexpr int steps = 4000;
  const cgx_codec codec = quantizeCodec(bits(), 64);
  std::mt19937_64 random(testSeed());
  const std::vector<float> values = rounded(makeFloats(Shape::uniform, 256, random));
  std::vector<float> sum(values.size());
  std::vector<double> mean(values.size());
  for (int step = 0; step < steps; ++step) {
    const RandomKey key = makeRandomKey(testSeed(), step, 5, 0, 0);
    const std::vector<uint8_t> payload = encodeValues(codec, values, 0, key);
    std::fill(sum.begin(), sum.end(), 0.0f);
    ASSERT_EQ(decodeAccumulate(codec, type(), payload.data(), payload.size(), sum.size(), sum.data(),
                               implementation()),
              DecodeError::ok);
    for (size_t i = 0; i < sum.size(); ++i)
      mean[i] += double(sum[i]) / steps;
  }
  const std::vector<BucketScale> scales = scalesOf(codec, encodeValues(codec, values), values.size());
  double total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double unit = scales[i / codec.bucket].unit, error = (mean[i] - values[i]) / unit;
    // The bound is that of a mean of draws with at most unit / 2 standard deviation, plus the bias of fixed
    // point.
    ASSERT_LE(std::abs(error), 5 * 0.5 / std::sqrt(steps) + ((1 << bits()) - 1) * 0x1p-16)
        << describe(codec) << ", element " << i << ", CGX_TEST_SEED=" << testSeed();
    total += error;
  }
  EXPECT_LE(std::abs(total / double(values.size())),
            5 * 0.5 / std::sqrt(double(steps) * double(values.size())) + 0x1p-9)
      << describe(codec) << ", CGX_TEST_SEED=" << testSeed();
}

std::string parameterName(const testing::TestParamInfo<Parameters> &info) {
  const char *types[] = {"f32", "f16", "bf16"};
  return std::string(std::get<0>(info.param)->name) + "_" + types[std::get<1>(info.param)] + "_" +
         std::to_string(std::get<2>(info.param)) + "bits";
}

INSTANTIATE_TEST_SUITE_P(All, QuantizeTest,
                         testing::Combine(testing::ValuesIn(supportedImplementations()),
                                          testing::Values(CGX_F32, CGX_F16, CGX_BF16),
                                          testing::Range(1u, 9u)),
                         parameterName);
INSTANTIATE_TEST_SUITE_P(All, NarrowQuantizeTest,
                         testing::Combine(testing::ValuesIn(supportedImplementations()),
                                          testing::Values(CGX_F16, CGX_BF16), testing::Range(1u, 9u)),
                         parameterName);

} // namespace
} // namespace cgx::test
