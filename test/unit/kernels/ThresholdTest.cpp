//===-- test/unit/kernels/ThresholdTest.cpp - Elements above a magnitude -*- C++ -*-===//
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

class ThresholdTest : public testing::Test {
protected:
  static cgx_codec absolute(float threshold) {
    return {.family = CGX_CODEC_THRESHOLD, .threshold = threshold};
  }
  static cgx_codec adaptive(float share, uint32_t bucket) {
    return {.family = CGX_CODEC_ADAPTIVE_THRESHOLD, .bucket = bucket, .threshold = share};
  }

  static std::vector<uint8_t> encoded(const cgx_codec &codec, const std::vector<float> &values) {
    std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, values.size()));
    payload.resize(encode(codec, CGX_F32, values.data(), values.size(), RandomKey{1}, 0, payload.data()));
    return payload;
  }

  static std::vector<float> throughCodec(const cgx_codec &codec, const std::vector<float> &values) {
    const std::vector<uint8_t> payload = encoded(codec, values);
    std::vector<float> decoded(values.size(), 7.0f);
    EXPECT_EQ(decode(codec, CGX_F32, payload.data(), payload.size(), values.size(), decoded.data()),
              DecodeError::ok);
    return decoded;
  }

  std::mt19937_64 random{testSeed()};
};

TEST_F(ThresholdTest, SendsExactlyTheElementsAboveTheThreshold) {
  for (Shape shape :
       {Shape::gradient, Shape::uniform, Shape::wide, Shape::huge, Shape::tiny, Shape::constant})
    for (uint64_t elements : {1u, 31u, 32u, 33u, 1000u, 20000u})
      for (float threshold : {0.0f, 1e-40f, 0.01f, 0.5f, 1.0f, 1e30f}) {
        const std::vector<float> values = makeFloats(shape, elements, random);
        std::vector<float> expected = values;
        for (float &value : expected)
          if (std::abs(value) < threshold)
            value = 0.0f;
        ASSERT_EQ(throughCodec(absolute(threshold), values), expected)
            << shapeName(shape) << ", " << elements << " elements above " << threshold;
      }
}

TEST_F(ThresholdTest, AnElementAtTheThresholdIsSent) {
  const std::vector<float> values = {0.5f, -0.5f, std::nextafter(0.5f, 0.0f), 0.0f, -0.0f};
  EXPECT_EQ(throughCodec(absolute(0.5f), values), (std::vector<float>{0.5f, -0.5f, 0, 0, 0}));
}

TEST_F(ThresholdTest, AdaptsToTheLargestNumberOfEachBucket) {
  for (Shape shape : {Shape::gradient, Shape::uniform, Shape::wide, Shape::tiny, Shape::constant})
    for (uint64_t elements : {1u, 49u, 50u, 51u, 1003u})
      for (float share : {0.1f, 0.5f, 1.0f}) {
        const std::vector<float> values = makeFloats(shape, elements, random);
        std::vector<float> expected = values;
        for (size_t begin = 0; begin < elements; begin += 50) {
          const auto from = expected.begin() + int64_t(begin),
                     to = expected.begin() + int64_t(std::min<size_t>(begin + 50, elements));
          float largest = 0;
          for (auto value = from; value != to; ++value)
            largest = std::max(largest, std::abs(*value));
          for (auto value = from; value != to; ++value)
            if (std::abs(*value) < share * largest)
              *value = 0.0f;
        }
        ASSERT_EQ(throughCodec(adaptive(share, 50), values), expected)
            << shapeName(shape) << ", " << elements << " elements, share " << share;
      }
}

TEST_F(ThresholdTest, TheLargestOfABucketIsSentWhateverElseIsInIt) {
  std::vector<float> values(100, 1e-3f);
  values[10] = std::numeric_limits<float>::infinity();
  values[20] = std::numeric_limits<float>::quiet_NaN();
  values[30] = -2.0f;
  const std::vector<float> decoded = throughCodec(adaptive(0.5f, 100), values);
  EXPECT_EQ(decoded[10], values[10]);
  EXPECT_TRUE(std::isnan(decoded[20]));
  EXPECT_EQ(decoded[30], -2.0f);
  EXPECT_EQ(decoded[40], 0.0f);
}

TEST_F(ThresholdTest, APayloadIsAsLongAsWhatItSends) {
  for (uint64_t elements : {1u, 1000u, 100000u}) {
    const cgx_codec codec = absolute(0.5f);
    std::vector<float> values(elements, 0.25f);
    EXPECT_EQ(encoded(codec, values).size(), 24u); // header, length, number of elements
    values[elements / 2] = 1.0f;
    EXPECT_EQ(encoded(codec, values).size(), 24u + cgx_position_bytes(elements, 1) + 4u);
    EXPECT_LE(cgx_position_bytes(elements, 1), 4u);
    std::fill(values.begin(), values.end(), 1.0f);
    EXPECT_EQ(encoded(codec, values).size(), cgx_payload_bytes(&codec, CGX_F32, elements));
  }
}

TEST_F(ThresholdTest, NeverWritesMoreThanPromised) {
  const cgx_codec codec = absolute(1.0f);
  for (uint64_t elements : {1u, 2u, 7u, 8u, 9u, 200u})
    for (uint64_t count = 0; count <= elements; ++count) {
      std::vector<float> values(elements, 0.0f);
      std::fill_n(values.begin(), count, 2.0f);
      std::shuffle(values.begin(), values.end(), random);
      ASSERT_EQ(throughCodec(codec, values), values);
    }
}

TEST_F(ThresholdTest, DamagedBodiesAreRefusedOrInBounds) {
  const cgx_codec codec = absolute(0.9f);
  const std::vector<uint8_t> payload = encoded(codec, makeFloats(Shape::uniform, 3000, random));
  int refused = 0;
  for (uint64_t byte = CGX_PAYLOAD_HEADER_BYTES; byte < payload.size(); ++byte) {
    Bytes damaged(payload, 0);
    damaged.data()[byte] ^= uint8_t(1 + random() % 255);
    Bytes output(3000 * 4);
    const std::vector<uint8_t> before = output.copy();
    const DecodeError error = decode(codec, CGX_F32, damaged.data(), damaged.size(), 3000, output.data());
    if (byte < CGX_PAYLOAD_HEADER_BYTES + CGX_PAYLOAD_LENGTH_BYTES + 8) { // lengths
      ASSERT_NE(error, DecodeError::ok) << byte;
    }
    if (error != DecodeError::ok) {
      ++refused;
      ASSERT_EQ(output.copy(), before);
    }
  }
  EXPECT_GT(refused, 16);
}

TEST_F(ThresholdTest, RefusesThresholdsThatAreNone) {
  for (float threshold :
       {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    EXPECT_TRUE(checkCodec(absolute(threshold), CGX_F32)
                    .starts_with("expected threshold to be at least 0, as an f32, got"));
  for (float share : {0.0f, -0.5f, 1.5f, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_TRUE(checkCodec(adaptive(share, 50), CGX_F32)
                    .starts_with("expected threshold to be above 0 and up to 1, got"));
  EXPECT_EQ(checkCodec(adaptive(0.5f, 0), CGX_F32), "expected bucket in 1..4294967295, got 0");
}

} // namespace
} // namespace cgx::test
