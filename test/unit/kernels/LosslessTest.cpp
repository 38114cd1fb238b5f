//===-- test/unit/kernels/LosslessTest.cpp - Entropy-coded exponents -*- C++ -*-===//
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
#include <map>

namespace cgx::test {
namespace {

class LosslessTest : public testing::TestWithParam<const Implementation *> {
protected:
  static constexpr cgx_codec codec = {.family = CGX_CODEC_LOSSLESS};

  static Bytes encoded(cgx_element_type type, const std::vector<uint8_t> &elements,
                       const Implementation &with) {
    const uint64_t count = elements.size() / cgx_element_bytes(type);
    std::vector<uint8_t> payload(cgx_payload_bytes(&codec, type, count));
    payload.resize(encode(codec, type, elements.data(), count, RandomKey{1}, 0, payload.data(), with));
    return Bytes(payload, 0);
  }

  /// Expects to decode the same elements, and the payload of the reference. Returns its size.
  uint64_t expectExact(cgx_element_type type, const std::vector<uint8_t> &elements) {
    const uint64_t count = elements.size() / cgx_element_bytes(type);
    const Bytes payload = encoded(type, elements, *GetParam());
    EXPECT_EQ(payload.copy(), encoded(type, elements, *findImplementation("reference")).copy());
    EXPECT_LE(payload.size(), cgx_payload_bytes(&codec, type, count));
    Bytes output(elements.size(), 1);
    EXPECT_EQ(decode(codec, type, payload.data(), payload.size(), count, output.data(), *GetParam()),
              DecodeError::ok);
    EXPECT_EQ(output.copy(), elements);
    return payload.size();
  }

  std::vector<uint8_t> anyBytes(uint64_t bytes) {
    std::vector<uint8_t> result(bytes);
    for (uint8_t &byte : result)
      byte = uint8_t(random());
    return result;
  }

  std::mt19937_64 random{testSeed()};
};

constexpr uint64_t lengths[] = {1,    63,   1023, 1024, 1025, 4096,  5000,
                                8191, 8192, 8193, 9216, 9217, 24577, 100003};

TEST_P(LosslessTest, KeepsEveryBitPatternOf16Bits) {
  std::vector<uint8_t> elements(2 * 65536);
  for (uint32_t bits = 0; bits < 65536; ++bits)
    memcpy(elements.data() + 2 * bits, &bits, 2);
  for (cgx_element_type type : {CGX_F16, CGX_BF16}) {
    expectExact(type, elements);
    // Each part has few enough patterns for a code to hold them.
    for (uint32_t begin = 0; begin < 65536; begin += 2048) {
      const auto from = elements.begin() + 2 * begin;
      expectExact(type, {from, from + 2 * 2048});
    }
  }
}

TEST_P(LosslessTest, KeepsAnyBits) {
  for (cgx_element_type type : {CGX_F32, CGX_F16, CGX_BF16})
    for (uint64_t count : lengths)
      expectExact(type, anyBytes(count * cgx_element_bytes(type)));
}

TEST_P(LosslessTest, KeepsWhatGradientsAreMadeOf) {
  for (cgx_element_type type : {CGX_F32, CGX_F16, CGX_BF16})
    for (Shape shape : allShapes)
      for (uint64_t count : lengths) {
        SCOPED_TRACE(std::string(shapeName(shape)) + ", " + std::to_string(count));
        expectExact(type, toElements(type, makeFloats(shape, count, random)));
      }
}

TEST_P(LosslessTest, KeepsZerosOfBothSignsSubnormalsAndPayloadsOfNans) {
  const uint32_t patterns[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
                               0x7f800000, 0xff800000, 0x7f800001, 0xffc12345, 0x7fffffff, 0x3f800000};
  for (uint64_t kinds : {1u, 2u, 4u, 12u})
    for (uint64_t count : lengths) {
      std::vector<uint8_t> elements(4 * count);
      for (uint64_t i = 0; i < count; ++i)
        memcpy(elements.data() + 4 * i, &patterns[random() % kinds], 4);
      expectExact(CGX_F32, elements);
    }
}

// Codes of long payloads are made from a part of their elements.
TEST_P(LosslessTest, KeepsWhatIsRareInLongPayloads) {
  const uint64_t count = (5u << 20) + 77;
  std::vector<float> values(count);
  std::normal_distribution<float> normal(0.0f, 1e-3f);
  for (float &value : values)
    value = normal(random);
  for (uint64_t at : {uint64_t(70), uint64_t(1000000), count - 1})
    values[at] = 1e30f;
  values[3000000] = -0.0f;
  const uint64_t bytes = expectExact(CGX_F32, toElements(CGX_F32, values));
  EXPECT_LT(double(bytes), 0.85 * 4 * double(count));
}

// Long outputs that begin at a cache line bypass the cache.
TEST_P(LosslessTest, LongPayloadsDecodeToAnyAlignment) {
  const uint64_t count = (2u << 20) + 8192 + 5;
  const std::vector<uint8_t> elements = toElements(CGX_F32, makeFloats(Shape::gradient, count, random));
  const Bytes payload = encoded(CGX_F32, elements, *GetParam());
  for (uint64_t offset : {0u, 4u, 32u, 1u}) {
    std::vector<uint8_t> room(elements.size() + 128, 0xcd);
    const uint64_t begin = -reinterpret_cast<uintptr_t>(room.data()) % 64 + offset;
    ASSERT_EQ(decode(codec, CGX_F32, payload.data(), payload.size(), count, room.data() + begin, *GetParam()),
              DecodeError::ok);
    EXPECT_EQ(memcmp(room.data() + begin, elements.data(), elements.size()), 0) << offset;
    EXPECT_EQ(std::count(room.begin() + int64_t(begin + elements.size()), room.end(), 0xcd),
              int64_t(room.size() - begin - elements.size()))
        << offset;
  }
}

// Long payloads bypass the cache, line by line.
TEST_P(LosslessTest, LongElementsEncodeToAnyAlignment) {
  const uint64_t count = (2u << 20) + 8192 + 5;
  for (double zeros : {0.0, 0.01}) {
    std::vector<float> values = makeFloats(Shape::gradient, count, random);
    std::uniform_real_distribution<double> uniform;
    for (float &value : values)
      value = uniform(random) < zeros ? 0.0f : value;
    const Bytes expected = encoded(CGX_F32, toElements(CGX_F32, values), *findImplementation("reference"));
    const uint64_t most = cgx_payload_bytes(&codec, CGX_F32, count);
    for (uint64_t offset : {0u, 8u, 33u}) {
      std::vector<uint8_t> room(most + 128, 0xcd);
      const uint64_t begin = -reinterpret_cast<uintptr_t>(room.data()) % 64 + offset;
      ASSERT_EQ(
          encode(codec, CGX_F32, values.data(), count, RandomKey{1}, 0, room.data() + begin, *GetParam()),
          expected.size());
      EXPECT_EQ(memcmp(room.data() + begin, expected.data(), expected.size()), 0) << offset;
      EXPECT_EQ(std::count(room.begin(), room.begin() + int64_t(begin), 0xcd), int64_t(begin)) << offset;
      EXPECT_EQ(std::count(room.begin() + int64_t(begin + most), room.end(), 0xcd),
                int64_t(room.size() - begin - most))
          << offset;
    }
  }
}

// Most symbols have short codes, and a whole run of symbols has long ones: there, codes that are joined
// elsewhere have more bits than one write takes.
TEST_P(LosslessTest, KeepsRunsOfRareExponents) {
  for (uint32_t exponents : {4u, 12u, 40u, 60u, 120u})
    for (double rare : {0.0, 0.003, 0.1}) {
      std::vector<uint32_t> bits(60000);
      std::geometric_distribution<uint32_t> geometric(0.6);
      std::uniform_real_distribution<double> uniform;
      uint32_t left = 0;
      for (uint32_t &element : bits) {
        if (left == 0 && uniform(random) < rare)
          left = uint32_t(random() % 40);
        const uint32_t exponent =
            rare == 0.0 || left != 0 ? uint32_t(random() % exponents) : geometric(random) % exponents;
        left -= left != 0;
        element = uint32_t(random()) >> 9 | (100 + exponent) << 23 | uint32_t(random() % 2) << 31;
      }
      std::vector<uint8_t> elements(4 * bits.size());
      memcpy(elements.data(), bits.data(), elements.size());
      SCOPED_TRACE(std::to_string(exponents) + ", " + std::to_string(rare));
      expectExact(CGX_F32, elements);
    }
}

// This is the target of targets.md: within 3 % of the entropy of exponents.
TEST_P(LosslessTest, IsAsLongAsTheEntropyOfExponentsAllows) {
  for (double zeros : {0.0, 0.3, 0.5}) {
    const uint64_t count = 200000;
    std::vector<float> values(count);
    std::normal_distribution<float> normal(0.0f, 1e-3f);
    std::uniform_real_distribution<double> uniform;
    std::map<uint32_t, double> counts;
    double kept = 0;
    for (float &value : values) {
      value = uniform(random) < zeros ? 0.0f : normal(random);
      ++counts[(floatBits(value) >> 23) & 0xff];
      kept += value != 0.0f;
    }
    double entropy = 0;
    for (auto [exponent, number] : counts)
      entropy -= number * std::log2(number / double(count));
    const double bytes = double(expectExact(CGX_F32, toElements(CGX_F32, values)));
    EXPECT_LT(bytes - 3 * kept, 1.03 * entropy / 8) << zeros;
  }
}

TEST_P(LosslessTest, IsLittleLongerThanWhatCannotBeShorter) {
  for (cgx_element_type type : {CGX_F32, CGX_F16, CGX_BF16})
    for (uint64_t count : lengths) {
      const uint64_t raw = count * cgx_element_bytes(type);
      EXPECT_LE(encoded(type, anyBytes(raw), *GetParam()).size(),
                raw + 16 + CGX_LOSSLESS_MOST_TABLE_BYTES + 24 * cgx_lossless_block_count(count));
    }
}

TEST_P(LosslessTest, DamageIsRefusedOrSeenOrInBounds) {
  const uint64_t count = 20000;
  const std::vector<float> values = makeFloats(Shape::gradient, count, random);
  const Bytes payload = encoded(CGX_F32, toElements(CGX_F32, values), *GetParam());
  uint32_t refused = 0, seen = 0;
  for (uint32_t draw = 0; draw < 400; ++draw) {
    Bytes damaged(payload.copy(), draw % 2);
    // Half of the draws hit offsets, table or a block's header.
    const uint64_t range = draw % 4 < 2 ? 100 : payload.size() - 16;
    damaged.data()[16 + random() % range] ^= uint8_t(1 + random() % 255);
    Bytes output(4 * count), expected(4 * count);
    const std::vector<uint8_t> before = output.copy();
    const DecodeError error =
        decode(codec, CGX_F32, damaged.data(), damaged.size(), count, output.data(), *GetParam());
    ASSERT_EQ(decode(codec, CGX_F32, damaged.data(), damaged.size(), count, expected.data(),
                     *findImplementation("reference")),
              error);
    ASSERT_EQ(output.copy(), expected.copy());
    if (error != DecodeError::ok) {
      ++refused;
      ASSERT_EQ(output.copy(), before);
    } else {
      const std::vector<float> decoded = toFloats(CGX_F32, output.data(), count);
      seen += std::any_of(decoded.begin(), decoded.end(), [](float value) { return std::isnan(value); });
    }
  }
  EXPECT_GT(refused, 20u);
  EXPECT_GT(seen, 20u);
}

std::string implementationName(const testing::TestParamInfo<const Implementation *> &info) {
  return info.param->name;
}

INSTANTIATE_TEST_SUITE_P(All, LosslessTest, testing::ValuesIn(supportedImplementations()),
                         implementationName);

} // namespace
} // namespace cgx::test
