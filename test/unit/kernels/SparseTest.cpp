//===-- test/unit/kernels/SparseTest.cpp - topk and randk -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "cgx/arithmetic/magnitude.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace cgx::test {
namespace {

class SparseTest : public testing::Test {
protected:
  static cgx_codec topk(float density) { return {.family = CGX_CODEC_TOPK, .density = density}; }
  static cgx_codec topkLevels(uint32_t bits, uint32_t bucket, float density = 0.01f) {
    return {.family = CGX_CODEC_TOPK, .bits = bits, .bucket = bucket, .density = density};
  }
  static cgx_codec randk(float density) { return {.family = CGX_CODEC_RANDK, .density = density}; }

  static std::vector<uint8_t> encoded(const cgx_codec &codec, const std::vector<float> &values,
                                      RandomKey key = RandomKey{1}) {
    std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, values.size()));
    EXPECT_EQ(encode(codec, CGX_F32, values.data(), values.size(), key, 0, payload.data()), payload.size());
    return payload;
  }

  static std::vector<float> throughCodec(const cgx_codec &codec, const std::vector<float> &values,
                                         RandomKey key = RandomKey{1}) {
    const std::vector<uint8_t> payload = encoded(codec, values, key);
    std::vector<float> decoded(values.size(), 7.0f);
    EXPECT_EQ(decode(codec, CGX_F32, payload.data(), payload.size(), values.size(), decoded.data()),
              DecodeError::ok);
    return decoded;
  }

  static double squaredNorm(const std::vector<float> &values) {
    double sum = 0;
    for (float value : values)
      sum += double(value) * double(value);
    return sum;
  }

  std::mt19937_64 random{testSeed()};
};

TEST_F(SparseTest, TopkSendsTheLargestAndOfEqualOnesTheFirst) {
  for (Shape shape :
       {Shape::gradient, Shape::uniform, Shape::wide, Shape::huge, Shape::tiny, Shape::constant})
    for (uint64_t elements : {1u, 2u, 31u, 33u, 100u, 1000u, 4097u, 20000u})
      for (float density : {0.0001f, 0.01f, 0.1f, 0.3f, 0.5f, 0.9f, 1.0f}) {
        SCOPED_TRACE(std::string(shapeName(shape)) + ", " + std::to_string(elements) + " elements, density " +
                     std::to_string(density) + ", CGX_TEST_SEED=" + std::to_string(testSeed()));
        const cgx_codec codec = topk(density);
        const std::vector<float> values = makeFloats(shape, elements, random);
        std::vector<uint64_t> order(elements);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](uint64_t a, uint64_t b) { return std::abs(values[a]) > std::abs(values[b]); });
        std::vector<float> expected(elements, 0.0f);
        const uint64_t count = cgx_sparse_count(&codec, elements);
        for (uint64_t i = 0; i < count; ++i)
          expected[order[i]] = values[order[i]];
        ASSERT_EQ(throughCodec(codec, values), expected);
      }
}

/// Long tensors are read once. Whatever their sample says, the bytes are those of the reference.
TEST_F(SparseTest, LongTensorsHaveTheBytesOfTheReferenceHoweverTheyAreOrdered) {
  const auto isSmaller = [](float a, float b) { return magnitudeBits(a) < magnitudeBits(b); };
  const std::pair<const char *, std::function<void(std::vector<float> &)>> orders[] = {
      {"as drawn", [](auto &) {}},
      {"rising", [&](auto &values) { std::stable_sort(values.begin(), values.end(), isSmaller); }},
      {"falling", [&](auto &values) { std::stable_sort(values.rbegin(), values.rend(), isSmaller); }},
      {"large in one place",
       [](auto &values) {
         std::for_each(values.end() - 900, values.end() - 20, [](float &x) { x *= 1e3f; });
       }},
      {"mostly zero", [](auto &values) { std::fill(values.begin() + 50, values.end(), 0.0f); }},
      {"few values",
       [](auto &values) {
         std::for_each(values.begin(), values.end(), [](float &x) { x = std::round(3 * x); });
       }},
  };
  for (Shape shape : {Shape::gradient, Shape::uniform, Shape::constant, Shape::poisoned})
    for (const auto &[name, order] : orders)
      for (uint64_t elements : {16384u, 70001u})
        for (cgx_element_type type : {CGX_F32, CGX_F16, CGX_BF16})
          for (float density : {1e-5f, 0.001f, 0.01f, 0.12f}) {
            SCOPED_TRACE(std::string(shapeName(shape)) + ", " + name + ", " + std::to_string(elements) +
                         " elements of type " + std::to_string(type) + ", density " +
                         std::to_string(density) + ", CGX_TEST_SEED=" + std::to_string(testSeed()));
            std::vector<float> values = makeFloats(shape, elements, random);
            order(values);
            const Bytes input(toElements(type, values), 0);
            const cgx_codec codec = topk(density);
            Bytes expected(cgx_payload_bytes(&codec, type, elements));
            encode(codec, type, input.data(), elements, RandomKey{1}, 0, expected.data(),
                   *findImplementation("reference"));
            for (const Implementation *with : supportedImplementations()) {
              Bytes payload(expected.size());
              encode(codec, type, input.data(), elements, RandomKey{1}, 0, payload.data(), *with);
              ASSERT_EQ(payload.copy(), expected.copy()) << with->name;
            }
          }
}

TEST_F(SparseTest, AnErrorIsAtMostTheShareThatIsNotSent) {
  for (float density : {0.01f, 0.1f, 0.5f}) {
    const std::vector<float> values = makeFloats(Shape::uniform, 5000, random);
    std::vector<float> lost = throughCodec(topk(density), values);
    for (size_t i = 0; i < values.size(); ++i)
      lost[i] -= values[i];
    EXPECT_LE(squaredNorm(lost), (1 - double(density)) * squaredNorm(values) * (1 + 1e-6));
  }
}

TEST_F(SparseTest, PositionsTakeLittleMoreThanTheirEntropy) {
  for (uint64_t elements : {1000u, 65536u, 1000000u})
    for (double density : {0.001, 0.01, 0.02, 0.1, 0.25, 0.5, 0.75}) {
      const auto count = uint64_t(density * double(elements));
      const double entropy =
          -double(elements) * (density * std::log2(density) + (1 - density) * std::log2(1 - density));
      EXPECT_LE(double(cgx_position_bytes(elements, count)) * 8, entropy + 0.8 * double(count) + 32)
          << elements << " elements, density " << density;
    }
}

TEST_F(SparseTest, NoInfinityStaysUnseen) {
  std::vector<float> values = makeFloats(Shape::uniform, 1000, random);
  for (size_t i = 0; i < 30; ++i) // more than the ten that are sent
    values[i * 31] = i % 2 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  for (const cgx_codec &codec : {topk(0.01f), topkLevels(2, 300), randk(0.01f)}) {
    const std::vector<float> decoded = throughCodec(codec, values);
    for (size_t i = 0; i < 30; ++i)
      EXPECT_FALSE(std::isfinite(decoded[i * 31]));
  }
}

TEST_F(SparseTest, DamagedPositionsAreRefusedOrInBounds) {
  const cgx_codec codec = topk(0.02f);
  const std::vector<float> values = makeFloats(Shape::uniform, 3000, random);
  const std::vector<uint8_t> payload = encoded(codec, values);
  const uint64_t begin = CGX_PAYLOAD_HEADER_BYTES + 4, end = begin + cgx_position_bytes(3000, 60);
  int refused = 0;
  for (uint64_t byte = begin; byte < end; ++byte) {
    Bytes damaged(payload, 0);
    damaged.data()[byte] ^= uint8_t(1 + random() % 255);
    Bytes output(3000 * 4);
    const std::vector<uint8_t> before = output.copy();
    const DecodeError error = decode(codec, CGX_F32, damaged.data(), damaged.size(), 3000, output.data());
    ASSERT_TRUE(error == DecodeError::ok || error == DecodeError::malformed);
    if (error == DecodeError::malformed) {
      ++refused;
      ASSERT_EQ(output.copy(), before);
    }
  }
  EXPECT_GT(refused, 5);
}

TEST_F(SparseTest, LevelsLieBetweenTheSmallestAndTheLargestThatAreSent) {
  for (Shape shape :
       {Shape::gradient, Shape::uniform, Shape::wide, Shape::huge, Shape::tiny, Shape::constant})
    for (uint64_t elements : {1u, 2u, 33u, 1000u, 5003u})
      for (uint32_t bits = 2; bits <= 8; ++bits) {
        SCOPED_TRACE(std::string(shapeName(shape)) + ", " + std::to_string(elements) + " elements, " +
                     std::to_string(bits) + " bits, CGX_TEST_SEED=" + std::to_string(testSeed()));
        const cgx_codec codec = topkLevels(bits, 256, 0.1f);
        const std::vector<float> values = makeFloats(shape, elements, random),
                                 decoded = throughCodec(codec, values);
        for (uint64_t begin = 0; begin < elements; begin += 256) {
          const uint64_t length = std::min<uint64_t>(256, elements - begin);
          std::vector<float> sorted;
          for (uint64_t i = begin; i < begin + length; ++i)
            sorted.push_back(std::abs(values[i]));
          std::sort(sorted.begin(), sorted.end(), std::greater<>());
          const float smallest = sorted[cgx_sparse_count(&codec, length) - 1], largest = sorted[0];
          if (std::isnan(decoded[begin])) { // bf16 cannot hold the distance
            ASSERT_GT(largest, 3.3e38f);
            continue;
          }
          // Scales in bf16: the lower end is rounded down, and the unit up.
          const double unit =
                           (double(largest) - smallest + smallest * 0x1p-7) / double((1 << (bits - 1)) - 1),
                       error = unit * (1 + 0x1p-7) * 0.5 + double(largest) * 0x1p-9 + 0x1p-120;
          for (uint64_t i = begin; i < begin + length; ++i) {
            const bool isSent = std::abs(values[i]) > smallest;
            ASSERT_TRUE(decoded[i] == 0.0f || std::abs(values[i]) >= smallest) << "element " << i;
            ASSERT_LE(isSent ? std::abs(double(decoded[i]) - values[i]) : 0.0, error) << "element " << i;
          }
        }
      }
}

TEST_F(SparseTest, DamagedPositionsOfABucketAreRefusedBeforeAnythingIsWritten) {
  const cgx_codec codec = topkLevels(4, 1000, 0.02f);
  const std::vector<float> values = makeFloats(Shape::uniform, 3000, random);
  const std::vector<uint8_t> payload = encoded(codec, values);
  int refused = 0;
  for (uint64_t byte = CGX_PAYLOAD_HEADER_BYTES; byte < payload.size(); ++byte) {
    Bytes damaged(payload, 0);
    damaged.data()[byte] ^= uint8_t(1 + random() % 255);
    Bytes output(3000 * 4);
    const std::vector<uint8_t> before = output.copy();
    const DecodeError error = decode(codec, CGX_F32, damaged.data(), damaged.size(), 3000, output.data());
    ASSERT_TRUE(error == DecodeError::ok || error == DecodeError::malformed);
    refused += error == DecodeError::malformed;
    ASSERT_TRUE(error == DecodeError::ok || output.copy() == before);
  }
  EXPECT_GT(refused, 5);
}

TEST_F(SparseTest, FourBitsTakeAQuarterOfTheElements) {
  const cgx_codec whole = topk(0.01f), levels = topkLevels(4, 4096);
  const double ratio = double(cgx_payload_bytes(&whole, CGX_F32, 1 << 20)) /
                       double(cgx_payload_bytes(&levels, CGX_F32, 1 << 20));
  EXPECT_GT(ratio, 2.9) << "values of 32 bits and positions of 8 against values of 4, scales and positions";
}

TEST_F(SparseTest, RandkSendsTheSamePlacesForAKeyAndEachPlaceEquallyOften) {
  const cgx_codec codec = randk(0.05f);
  constexpr size_t elements = 1000, draws = 20000;
  std::vector<float> ones(elements, 1.0f), others = makeFloats(Shape::offset, elements, random);
  std::vector<double> frequency(elements);
  for (size_t draw = 0; draw < draws; ++draw) {
    const RandomKey key = makeRandomKey(testSeed(), draw, 3, 0, 0);
    const std::vector<float> decoded = throughCodec(codec, ones, key);
    ASSERT_EQ(std::accumulate(decoded.begin(), decoded.end(), 0.0f), 50.0f);
    for (size_t i = 0; i < elements; ++i)
      frequency[i] += decoded[i] / draws;
    if (draw % 1000 == 0) {
      const std::vector<float> same = throughCodec(codec, others, key);
      for (size_t i = 0; i < elements; ++i)
        ASSERT_EQ(same[i], decoded[i] * others[i]);
    }
  }
  const double deviation = std::sqrt(0.05 * 0.95 / draws);
  for (size_t i = 0; i < elements; ++i)
    ASSERT_NEAR(frequency[i], 0.05, 5 * deviation) << "element " << i;
}

TEST_F(SparseTest, SendsAtLeastOneElementAndAtMostAll) {
  for (float density : {1e-6f, 0.5f, 1.0f})
    for (uint64_t elements : {1u, 2u, 3u, 1000u}) {
      const cgx_codec codec = topk(density);
      const uint64_t count = cgx_sparse_count(&codec, elements);
      EXPECT_GE(count, 1u);
      EXPECT_LE(count, elements);
    }
  for (float density : {0.0f, -1.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()})
    for (const cgx_codec &codec : {topk(density), randk(density)})
      EXPECT_TRUE(checkCodec(codec, CGX_F32).starts_with("expected density to be above 0 and up to 1, got"));
}

} // namespace
} // namespace cgx::test
