//===-- ImplementationTest.cpp - Every implementation gives the reference's bits --===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include <gtest/gtest.h>

#include <tuple>

namespace cgx::test {
namespace {

/// Returns the implementations other than the reference.
std::vector<const Implementation *> vectorImplementations() {
  std::vector<const Implementation *> supported = supportedImplementations();
  supported.pop_back();
  return supported;
}

/// Returns lengths around the limits that the kernels distinguish: nothing, one, buckets, blocks, segments,
/// chunks.
std::vector<uint64_t> lengthsFor(uint64_t bucket, std::mt19937_64 &random) {
  std::vector<uint64_t> lengths = {0,   1,   2,   15,  16,  17,   31,   33,   127,
                                   128, 129, 511, 512, 513, 2047, 2048, 2049, 4099};
  for (uint64_t buckets : {1, 2, 3, 4, 5, 8, 16, 17})
    for (uint64_t length : {buckets * bucket - 1, buckets * bucket, buckets * bucket + 1})
      if (length < 70000)
        lengths.push_back(length);
  for (int i = 0; i < 4; ++i)
    lengths.push_back(random() % 9000);
  return lengths;
}

class ImplementationTest
    : public testing::TestWithParam<std::tuple<const Implementation *, cgx_element_type, uint32_t>> {
protected:
  const Implementation &implementation() const { return *std::get<0>(GetParam()); }
  cgx_element_type type() const { return std::get<1>(GetParam()); }
  uint32_t bits() const { return std::get<2>(GetParam()); }
  const Implementation &reference() const { return *findImplementation("reference"); }

  /// Compares all operations on one input.
  void compare(const cgx_codec &codec, const std::vector<float> &values, uint64_t firstElement,
               uint64_t misalignment) {
    const uint64_t elements = values.size();
    const RandomKey key = makeRandomKey(testSeed(), elements, firstElement, 3, 1);
    const Bytes input(toElements(type(), values), misalignment);
    const uint64_t bytes = cgx_payload_bytes(&codec, type(), elements);
    Bytes expected(bytes), actual(bytes, misalignment);
    encode(codec, type(), input.data(), elements, key, firstElement, expected.data(), reference());
    encode(codec, type(), input.data(), elements, key, firstElement, actual.data(), implementation());
    ASSERT_EQ(actual.copy(), expected.copy()) << "encode";

    Bytes fromF32(bytes, misalignment);
    encodeFromF32(codec, type(), values.data(), elements, key, firstElement, fromF32.data(),
                  implementation());
    ASSERT_EQ(fromF32.copy(), expected.copy()) << "encodeFromF32";

    compareDecoders(codec, expected, elements, misalignment);
    // Scales and levels are random, because the sections of a payload may hold any bytes.
    std::mt19937_64 random(testSeed() + elements);
    for (uint64_t i = CGX_PAYLOAD_HEADER_BYTES; i < bytes; ++i)
      if (random() % 8 == 0)
        expected.data()[i] = uint8_t(random());
    compareDecoders(codec, expected, elements, misalignment);
  }

  void compareDecoders(const cgx_codec &codec, const Bytes &payload, uint64_t elements,
                       uint64_t misalignment) {
    const uint64_t bytes = elements * cgx_element_bytes(type());
    Bytes expected(bytes), actual(bytes, misalignment);
    ASSERT_EQ(decode(codec, type(), payload.data(), payload.size(), elements, expected.data(), reference()),
              DecodeError::ok);
    ASSERT_EQ(
        decode(codec, type(), payload.data(), payload.size(), elements, actual.data(), implementation()),
        DecodeError::ok);
    ASSERT_EQ(actual.copy(), expected.copy()) << "decode";

    std::vector<float> expectedSum(elements, 0.25f), actualSum(elements, 0.25f);
    ASSERT_EQ(decodeAccumulate(codec, type(), payload.data(), payload.size(), elements, expectedSum.data(),
                               reference()),
              DecodeError::ok);
    ASSERT_EQ(decodeAccumulate(codec, type(), payload.data(), payload.size(), elements, actualSum.data(),
                               implementation()),
              DecodeError::ok);
    ASSERT_EQ(elements == 0 ? 0 : memcmp(actualSum.data(), expectedSum.data(), elements * 4), 0)
        << "decodeAccumulate";
  }
};

TEST_P(ImplementationTest, GivesTheBitsOfTheReference) {
  std::mt19937_64 random(testSeed() + bits() * 100 + type());
  for (uint32_t bucket : {1u, 3u, 16u, 32u, 64u, 96u, 100u, 128u, 416u, 512u, 1000u, 4096u, 8192u}) {
    for (uint64_t elements : lengthsFor(bucket, random)) {
      const uint64_t draw = random();
      const cgx_codec codec =
          quantizeCodec(bits(), bucket, draw & 1 ? CGX_ROUND_NEAREST : CGX_ROUND_STOCHASTIC,
                        draw & 2 ? CGX_SCALE_F32 : CGX_SCALE_BF16);
      const Shape shape = allShapes[draw / 4 % std::size(allShapes)];
      const uint64_t firstElement = draw & 32 ? (draw >> 40) * bucket : 0;
      const uint64_t misalignment = draw & 64 ? cgx_element_bytes(type()) : draw & 128 ? 1 : 0;
      SCOPED_TRACE(describe(codec) + ", " + std::to_string(elements) + " elements, " + shapeName(shape) +
                   ", first element " + std::to_string(firstElement) + ", misaligned by " +
                   std::to_string(misalignment) + ", CGX_TEST_SEED=" + std::to_string(testSeed()));
      ASSERT_NO_FATAL_FAILURE(
          compare(codec, makeFloats(shape, elements, random), firstElement, misalignment));
    }
  }
}

TEST_P(ImplementationTest, TakesEveryShapeOfInput) {
  std::mt19937_64 random(testSeed() + bits() * 100 + type() + 7);
  for (Shape shape : allShapes)
    for (cgx_rounding rounding : {CGX_ROUND_NEAREST, CGX_ROUND_STOCHASTIC})
      for (cgx_scale_type scale : {CGX_SCALE_BF16, CGX_SCALE_F32}) {
        const cgx_codec codec = quantizeCodec(bits(), 128, rounding, scale);
        SCOPED_TRACE(describe(codec) + ", " + shapeName(shape) +
                     ", CGX_TEST_SEED=" + std::to_string(testSeed()));
        ASSERT_NO_FATAL_FAILURE(compare(codec, makeFloats(shape, 5000, random), 0, 0));
      }
}

TEST_P(ImplementationTest, CountsPastTwoToTheThirtyTwo) {
  std::mt19937_64 random(testSeed());
  // The random words of a stream end 2^37 elements from its start.
  for (uint64_t firstElement :
       {(1ull << 32) - 1024, (1ull << 37) - 1024, (1ull << 37) - 512 * 3, 1ull << 50}) {
    const cgx_codec codec = quantizeCodec(bits(), 512);
    SCOPED_TRACE("first element " + std::to_string(firstElement));
    ASSERT_NO_FATAL_FAILURE(compare(codec, makeFloats(Shape::gradient, 5000, random), firstElement, 0));
  }
}

std::string parameterName(const testing::TestParamInfo<ImplementationTest::ParamType> &info) {
  const char *types[] = {"f32", "f16", "bf16"};
  return std::string(std::get<0>(info.param)->name) + "_" + types[std::get<1>(info.param)] + "_" +
         std::to_string(std::get<2>(info.param)) + "bits";
}

// A machine may support only the reference.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ImplementationTest);
INSTANTIATE_TEST_SUITE_P(All, ImplementationTest,
                         testing::Combine(testing::ValuesIn(vectorImplementations()),
                                          testing::Values(CGX_F32, CGX_F16, CGX_BF16),
                                          testing::Range(1u, 9u)),
                         parameterName);

TEST(ImplementationListTest, EndsInTheReferenceAndStartsWithTheDefault) {
  EXPECT_STREQ(implementations().back()->name, "reference");
  EXPECT_EQ(&defaultImplementation(), supportedImplementations().front());
  EXPECT_EQ(findImplementation("none of them"), nullptr);
}

TEST(ImplementationListTest, StreamingLargeOutputsChangesNothing) {
  std::mt19937_64 random(testSeed());
  const uint64_t elements = (2u << 20) + 77;
  std::vector<float> values = makeFloats(Shape::gradient, 4096, random);
  while (values.size() < elements)
    values.insert(values.end(), values.begin(),
                  values.begin() + std::min<uint64_t>(4096, elements - values.size()));
  for (const Implementation *implementation : supportedImplementations())
    for (uint32_t bits : {3u, 4u, 8u}) {
      SCOPED_TRACE(implementation->name);
      const cgx_codec codec = quantizeCodec(bits, 128);
      std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, elements));
      encode(codec, CGX_F32, values.data(), elements, RandomKey{1}, 0, payload.data(), *implementation);
      float *storage = static_cast<float *>(std::aligned_alloc(64, (elements * 4 + 128) / 64 * 64));
      std::unique_ptr<float, decltype(&std::free)> owner(storage, &std::free);
      std::vector<float> unaligned(elements + 16);
      float *apart = unaligned.data() + (reinterpret_cast<uintptr_t>(unaligned.data()) % 64 == 0 ? 1 : 0);
      ASSERT_EQ(decode(codec, CGX_F32, payload.data(), payload.size(), elements, storage, *implementation),
                DecodeError::ok);
      ASSERT_EQ(decode(codec, CGX_F32, payload.data(), payload.size(), elements, apart, *implementation),
                DecodeError::ok);
      EXPECT_EQ(memcmp(storage, apart, elements * 4), 0);
    }
}

} // namespace
} // namespace cgx::test
