//===-- FamilyTest.cpp - Properties of every codec family -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All tests here run every family of the table, and every case of its parameters, on every implementation and
// element type, for short and long inputs and any bytes. `codecs` lists codecs of which more is known.

#include "Inputs.h"
#include "cgx/codec_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <tuple>

namespace cgx::test {
namespace {

struct FamilyCase {
  std::string name;
  cgx_codec codec;
  /// The number of elements that one element that is not finite may spoil; 0 for all of its payload.
  uint64_t spoiled;
  /// True if pieces, cut at chunk boundaries, decode to the values of the whole.
  bool piecesAreTheWhole = true;
};

void PrintTo(const FamilyCase &c, std::ostream *out) { *out << c.name; }

const FamilyCase codecs[] = {
    {"quantize",
     {.family = CGX_CODEC_QUANTIZE, .bits = 4, .bucket = 128, .rounding = CGX_ROUND_STOCHASTIC},
     128},
    {"quantizeShift",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 4,
      .bucket = 128,
      .rounding = CGX_ROUND_RANDOM_SHIFT,
      .scale = CGX_SCALE_F32},
     128},
    {"quantizeShift8Odd",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 8,
      .bucket = 100,
      .rounding = CGX_ROUND_RANDOM_SHIFT,
      .scale = CGX_SCALE_F32},
     100},
    {"quantizeMaxAbs",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 4,
      .bucket = 64,
      .rounding = CGX_ROUND_STOCHASTIC,
      .scaling = CGX_SCALING_MAX_ABS},
     64},
    {"quantizeMaxAbs8OddF32",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 8,
      .bucket = 100,
      .scale = CGX_SCALE_F32,
      .scaling = CGX_SCALING_MAX_ABS},
     100},
    {"quantizeL2",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 3,
      .bucket = 128,
      .rounding = CGX_ROUND_STOCHASTIC,
      .scaling = CGX_SCALING_L2},
     128},
    {"quantizeExponential",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 4,
      .bucket = 128,
      .rounding = CGX_ROUND_STOCHASTIC,
      .scaling = CGX_SCALING_MAX_ABS,
      .levels = CGX_LEVELS_EXPONENTIAL},
     128},
    {"quantizeExponential8L2",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 8,
      .bucket = 50,
      .scale = CGX_SCALE_F32,
      .scaling = CGX_SCALING_L2,
      .levels = CGX_LEVELS_EXPONENTIAL},
     50},
    {"quantizeLearned",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 3,
      .bucket = 128,
      .rounding = CGX_ROUND_STOCHASTIC,
      .levels = CGX_LEVELS_LEARNED},
     0,
     /*piecesAreTheWhole=*/false},
    {"quantizeLearned1Bit",
     {.family = CGX_CODEC_QUANTIZE, .bits = 1, .bucket = 128, .levels = CGX_LEVELS_LEARNED},
     0,
     /*piecesAreTheWhole=*/false},
    {"ternary", {.family = CGX_CODEC_TERNARY, .bucket = 64}, 64},
    {"ternaryOddF32",
     {.family = CGX_CODEC_TERNARY, .bucket = 100, .scale = CGX_SCALE_F32, .checksum = 1},
     100},
    {"signMeans", {.family = CGX_CODEC_SIGN, .bucket = 512}, 512},
    {"signMeansOddF32", {.family = CGX_CODEC_SIGN, .bucket = 37, .scale = CGX_SCALE_F32}, 37},
    {"signNorm", {.family = CGX_CODEC_SIGN, .bucket = 96, .magnitude = CGX_SIGN_NORM}, 96},
    {"natural", {.family = CGX_CODEC_NATURAL}, 1},
    {"castBf16", {.family = CGX_CODEC_CAST, .format = CGX_FORMAT_BF16}, 1},
    {"castF16", {.family = CGX_CODEC_CAST, .format = CGX_FORMAT_F16}, 1},
    {"castE4m3", {.family = CGX_CODEC_CAST, .bucket = 128, .format = CGX_FORMAT_FP8_E4M3}, 128},
    {"castE5m2OddF32",
     {.family = CGX_CODEC_CAST, .bucket = 50, .scale = CGX_SCALE_F32, .format = CGX_FORMAT_FP8_E5M2},
     50},
    {"castMxfp8", {.family = CGX_CODEC_CAST, .bucket = 32, .format = CGX_FORMAT_MXFP8}, 32},
    {"topk", {.family = CGX_CODEC_TOPK, .density = 0.01f}, 0, /*piecesAreTheWhole=*/false},
    {"topkThird", {.family = CGX_CODEC_TOPK, .checksum = 1, .density = 0.3f}, 0, /*piecesAreTheWhole=*/false},
    {"topkAll", {.family = CGX_CODEC_TOPK, .density = 1.0f}, 1},
    {"topkLevels", {.family = CGX_CODEC_TOPK, .bits = 4, .bucket = 64, .density = 0.1f}, 64},
    {"topkSignsOddF32",
     {.family = CGX_CODEC_TOPK,
      .bits = 1,
      .bucket = 100,
      .scale = CGX_SCALE_F32,
      .checksum = 1,
      .density = 0.02f},
     100},
    {"topkAllLevels", {.family = CGX_CODEC_TOPK, .bits = 8, .bucket = 50, .density = 1.0f}, 50},
    {"randk", {.family = CGX_CODEC_RANDK, .density = 0.02f}, 0, /*piecesAreTheWhole=*/false},
    {"threshold", {.family = CGX_CODEC_THRESHOLD, .threshold = 0.5f}, 1},
    {"thresholdNone", {.family = CGX_CODEC_THRESHOLD, .checksum = 1}, 1},
    {"adaptiveThreshold", {.family = CGX_CODEC_ADAPTIVE_THRESHOLD, .bucket = 50, .threshold = 0.9f}, 50},
    {"adaptiveThresholdLargest",
     {.family = CGX_CODEC_ADAPTIVE_THRESHOLD, .bucket = 500, .checksum = 1, .threshold = 1.0f},
     500},
    {"lossless", {.family = CGX_CODEC_LOSSLESS}, 1},
    {"losslessChecksum", {.family = CGX_CODEC_LOSSLESS, .checksum = 1}, 1},
    {"gcomp",
     {.family = CGX_CODEC_GCOMP,
      .optimizer = CGX_OPTIMIZER_ADAM,
      .learning_rate = 1e-3f,
      .beta1 = 0.9f,
      .beta2 = 0.999f,
      .epsilon = 1e-8f},
     1},
    {"gcompChecksum", {.family = CGX_CODEC_GCOMP, .checksum = 1, .truncation = 7, .learning_rate = 0.1f}, 1},
    {"quantizeRotated",
     {.family = CGX_CODEC_QUANTIZE,
      .bits = 4,
      .bucket = 128,
      .rounding = CGX_ROUND_STOCHASTIC,
      .rotate = CGX_ROTATE_HADAMARD},
     1024,
     /*piecesAreTheWhole=*/false},
    {"naturalRotated",
     {.family = CGX_CODEC_NATURAL, .checksum = 1, .rotate = CGX_ROTATE_HADAMARD},
     1024,
     /*piecesAreTheWhole=*/false},
    {"castNvfp4",
     {.family = CGX_CODEC_CAST, .bucket = 16, .format = CGX_FORMAT_NVFP4},
     16,
     /*piecesAreTheWhole=*/false},
    {"eden", {.family = CGX_CODEC_EDEN, .bits = 4, .bucket = 128}, 128},
    {"eden1Bit", {.family = CGX_CODEC_EDEN, .bits = 1, .bucket = 64, .checksum = 1}, 64},
    {"eden2BitF32", {.family = CGX_CODEC_EDEN, .bits = 2, .bucket = 256, .scale = CGX_SCALE_F32}, 256},
    {"eden3Bit", {.family = CGX_CODEC_EDEN, .bits = 3, .bucket = 128}, 128},
    {"eden5Bit", {.family = CGX_CODEC_EDEN, .bits = 5, .bucket = 512}, 512},
    {"eden6Bit", {.family = CGX_CODEC_EDEN, .bits = 6, .bucket = 2048}, 2048},
    {"eden7Bit", {.family = CGX_CODEC_EDEN, .bits = 7, .bucket = 4096}, 4096},
    {"eden8BitF32", {.family = CGX_CODEC_EDEN, .bits = 8, .bucket = 1024, .scale = CGX_SCALE_F32}, 1024},
    {"castMxfp4", {.family = CGX_CODEC_CAST, .bucket = 32, .checksum = 1, .format = CGX_FORMAT_MXFP4}, 32},
};

/// Returns `codecs`, and beside them all families of the table and all cases of their parameters, with the
/// other parameters at their defaults.
std::vector<FamilyCase> allCodecs() {
  std::vector<FamilyCase> all(std::begin(codecs), std::end(codecs));
  const auto add = [&](const std::string &name, const CodecValues &values, const CodecParameter *parameter) {
    const cgx_codec codec = toCodec(values);
    const bool isThere = std::any_of(all.begin(), all.end(), [&](const FamilyCase &one) {
      return one.codec.family == codec.family &&
             (!parameter || one.codec.*parameter->number == codec.*parameter->number);
    });
    if (!isThere && checkCodec(codec, CGX_F32).empty())
      all.push_back({name, codec, 0, /*piecesAreTheWhole=*/false});
  };
  for (const CodecFamilyEntry &family : codecFamilies()) {
    const CodecValues usual = usualCodec(family.family);
    if (const cgx_codec codec = toCodec(usual);
        codec.family == CGX_CODEC_IDENTITY || !cgx_codec_has_payloads(&codec))
      continue;
    add(std::string(family.name), usual, nullptr);
    for (size_t i = 0; i < family.parameters.size(); ++i)
      for (size_t number = 0; number < family.parameters[i].cases.size(); ++number) {
        CodecValues values = usual;
        values.values[i] = double(number);
        for (size_t j = 0; j < family.parameters.size(); ++j)
          if (!values.has(family.parameters[j]) || !usual.has(family.parameters[j]))
            values.values[j] = values.usual(family.parameters[j]);
        add(std::string(family.name) + "_" + std::string(family.parameters[i].name) + "_" +
                std::string(family.parameters[i].cases[number].name),
            values, &family.parameters[i]);
      }
  }
  return all;
}

std::vector<FamilyCase> piecewiseCodecs() {
  std::vector<FamilyCase> all = allCodecs();
  std::erase_if(all, [](const FamilyCase &one) { return !one.piecesAreTheWhole; });
  return all;
}

constexpr uint64_t lengths[] = {1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300, 1000, 2048, 4096, 5003};

class FamilyTest
    : public testing::TestWithParam<std::tuple<FamilyCase, const Implementation *, cgx_element_type>> {
protected:
  const FamilyCase &family() const { return std::get<0>(GetParam()); }
  const cgx_codec &codec() const { return family().codec; }
  const Implementation &implementation() const { return *std::get<1>(GetParam()); }
  cgx_element_type type() const { return std::get<2>(GetParam()); }
  const Implementation &reference() const { return *findImplementation("reference"); }

  /// Returns the payload in a buffer that ends where it does.
  Bytes encodeBytes(const Bytes &input, uint64_t elements, uint64_t firstElement, const Implementation &with,
                    uint8_t fill = 0xcd, uint64_t misalignment = 0) const {
    Bytes buffer(cgx_payload_bytes(&codec(), type(), elements), 0, fill);
    const uint64_t bytes = encode(codec(), type(), input.data(), elements, RandomKey{testSeed()},
                                  firstElement, buffer.data(), with);
    EXPECT_LE(bytes, buffer.size());
    const std::vector<uint8_t> all = buffer.copy();
    return Bytes({all.begin(), all.begin() + int64_t(bytes)}, misalignment);
  }

  std::vector<float> decodeBytes(const Bytes &payload, uint64_t elements, const Implementation &with) const {
    Bytes output(elements * cgx_element_bytes(type()), 1);
    EXPECT_EQ(decode(codec(), type(), payload.data(), payload.size(), elements, output.data(), with),
              DecodeError::ok);
    return toFloats(type(), output.data(), elements);
  }

  std::vector<float> throughCodec(const std::vector<float> &values, uint64_t firstElement = 0) const {
    const Bytes input(toElements(type(), values), 0);
    return decodeBytes(encodeBytes(input, values.size(), firstElement, implementation()), values.size(),
                       implementation());
  }

  /// Decodes on both implementations and compares errors and values.
  void compareDecoders(const Bytes &payload, uint64_t elements) const {
    const uint64_t bytes = elements * cgx_element_bytes(type());
    Bytes expected(bytes), actual(bytes, 1);
    const DecodeError error =
        decode(codec(), type(), payload.data(), payload.size(), elements, expected.data(), reference());
    ASSERT_EQ(
        decode(codec(), type(), payload.data(), payload.size(), elements, actual.data(), implementation()),
        error);
    ASSERT_EQ(actual.copy(), expected.copy());
    std::vector<float> expectedSum(elements, 0.25f), actualSum(elements, 0.25f);
    ASSERT_EQ(decodeAccumulate(codec(), type(), payload.data(), payload.size(), elements, expectedSum.data(),
                               reference()),
              error);
    ASSERT_EQ(decodeAccumulate(codec(), type(), payload.data(), payload.size(), elements, actualSum.data(),
                               implementation()),
              error);
    for (uint64_t i = 0; i < elements; ++i) // it is unspecified which NaN a sum is
      ASSERT_TRUE(floatBits(actualSum[i]) == floatBits(expectedSum[i]) ||
                  (std::isnan(actualSum[i]) && std::isnan(expectedSum[i])))
          << "sum " << i << ": " << actualSum[i] << ", " << expectedSum[i];
  }
};

TEST_P(FamilyTest, IsAccepted) {
  EXPECT_EQ(checkCodec(codec(), type()), "");
  EXPECT_NE(checkCodec(codec(), CGX_I32), "");
}

TEST_P(FamilyTest, GivesTheBitsOfTheReference) {
  std::mt19937_64 random(testSeed());
  for (Shape shape : allShapes)
    for (uint64_t elements : lengths) {
      const uint64_t firstElement = random() % 2 ? random() % 10000 * cgx_chunk_alignment(&codec()) : 0;
      SCOPED_TRACE(std::string(shapeName(shape)) + ", " + std::to_string(elements) +
                   " elements, CGX_TEST_SEED=" + std::to_string(testSeed()));
      const std::vector<float> values = makeFloats(shape, elements, random);
      const Bytes input(toElements(type(), values), random() % 2);
      const Bytes expected = encodeBytes(input, elements, firstElement, reference());
      ASSERT_EQ(encodeBytes(input, elements, firstElement, implementation()).copy(), expected.copy());

      Bytes fromF32(cgx_payload_bytes(&codec(), type(), elements));
      const uint64_t bytes = encodeFromF32(codec(), type(), values.data(), elements, RandomKey{testSeed()},
                                           firstElement, fromF32.data(), implementation());
      ASSERT_EQ(bytes, expected.size());
      ASSERT_EQ(memcmp(fromF32.data(), expected.data(), bytes), 0) << "encodeFromF32";
      ASSERT_NO_FATAL_FAILURE(compareDecoders(expected, elements));
    }
}

TEST_P(FamilyTest, FillsItsPayload) {
  std::mt19937_64 random(testSeed());
  for (uint64_t elements : lengths) {
    const Bytes input(toElements(type(), makeFloats(Shape::gradient, elements, random)), 0);
    const Bytes first = encodeBytes(input, elements, 0, implementation(), 0x00);
    ASSERT_EQ(encodeBytes(input, elements, 0, implementation(), 0xff).copy(), first.copy());
    if (cgx_payload_is_fixed(&codec())) {
      ASSERT_EQ(first.size(), cgx_payload_bytes(&codec(), type(), elements));
    }
  }
  EXPECT_EQ(encode(codec(), type(), nullptr, 0, RandomKey{1}, 0, nullptr, implementation()), 0u);
  EXPECT_EQ(decode(codec(), type(), nullptr, 0, 0, nullptr, implementation()), DecodeError::ok);
}

TEST_P(FamilyTest, RefusesTruncationsAndWritesNothing) {
  std::mt19937_64 random(testSeed());
  const Bytes payload = encodeBytes(Bytes(toElements(type(), makeFloats(Shape::gradient, 300, random)), 0),
                                    300, 0, implementation());
  for (uint64_t size = 0; size < payload.size(); ++size) {
    const Bytes cut({payload.data(), payload.data() + size}, 0);
    Bytes output(300 * cgx_element_bytes(type()));
    const std::vector<uint8_t> before = output.copy();
    ASSERT_NE(decode(codec(), type(), cut.data(), size, 300, output.data(), implementation()),
              DecodeError::ok);
    ASSERT_EQ(output.copy(), before);
  }
}

TEST_P(FamilyTest, DecodesAnyBytesAsTheReferenceDoes) {
  std::mt19937_64 random(testSeed());
  for (uint64_t elements : lengths)
    for (int draw = 0; draw < 12; ++draw) {
      const Bytes input(toElements(type(), makeFloats(Shape::uniform, elements, random)), 0);
      Bytes payload = encodeBytes(input, elements, 0, reference(), 0, draw % 2);
      // A wrong length is rejected before the body is read, so only every fourth draw may damage it.
      const uint64_t begin = draw % 4 == 0 ? CGX_PAYLOAD_HEADER_BYTES : cgx_payload_body_begin(&codec());
      for (uint64_t i = begin; i < payload.size(); ++i)
        if (draw < 2 || random() % (draw < 6 ? 8 : 64) == 0)
          payload.data()[i] = uint8_t(random());
      ASSERT_NO_FATAL_FAILURE(compareDecoders(payload, elements)) << elements << " elements";
    }
}

/// Tests of codecs whose encoding depends on one piece only.
class PiecewiseFamilyTest : public FamilyTest {};

TEST_P(PiecewiseFamilyTest, PiecesDecodeToTheValuesOfTheWhole) {
  std::mt19937_64 random(testSeed());
  const std::vector<float> values = makeFloats(Shape::gradient, 5003, random);
  const std::vector<float> whole = throughCodec(values);
  for (uint64_t chunks : {2u, 3u, 7u}) {
    std::vector<float> pieces;
    for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
      const uint64_t begin = cgx_chunk_begin(&codec(), values.size(), chunks, chunk);
      const uint64_t end = cgx_chunk_begin(&codec(), values.size(), chunks, chunk + 1);
      const std::vector<float> part =
          throughCodec({values.begin() + int64_t(begin), values.begin() + int64_t(end)}, begin);
      pieces.insert(pieces.end(), part.begin(), part.end());
    }
    ASSERT_EQ(pieces, whole) << chunks << " chunks";
  }
}

TEST_P(FamilyTest, WhatIsNotFiniteIsSeenAndSpoilsNoOtherBucket) {
  std::mt19937_64 random(testSeed());
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  for (float poison : {nan, -nan, infinity, -infinity})
    for (uint64_t at : {0u, 63u, 500u, 997u}) {
      std::vector<float> values = makeFloats(Shape::uniform, 998, random);
      const std::vector<float> clean = throughCodec(values);
      values[at] = poison;
      const std::vector<float> decoded = throughCodec(values);
      ASSERT_FALSE(std::isfinite(decoded[at])) << poison << " at " << at << " became " << decoded[at];
      const uint64_t spoiled = family().spoiled == 0 ? values.size() : family().spoiled;
      for (size_t i = 0; i < values.size(); ++i)
        if (i / spoiled != at / spoiled) {
          ASSERT_EQ(decoded[i], clean[i]) << "element " << i << ", " << poison << " at " << at;
        }
    }
}

TEST_P(FamilyTest, EveryNanOfASumIsSeen) {
  // Rounding the bits of a NaN as if it were a number may carry into the sign.
  for (uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0x7fff8000u}) {
    std::vector<float> sum(300, 1.0f);
    sum[200] = floatFromBits(bits);
    Bytes payload(cgx_payload_bytes(&codec(), type(), sum.size()));
    const uint64_t bytes = encodeFromF32(codec(), type(), sum.data(), sum.size(), RandomKey{1}, 0,
                                         payload.data(), implementation());
    Bytes output(sum.size() * cgx_element_bytes(type()));
    ASSERT_EQ(decode(codec(), type(), payload.data(), bytes, sum.size(), output.data(), implementation()),
              DecodeError::ok);
    ASSERT_FALSE(std::isfinite(toFloats(type(), output.data(), sum.size())[200]));
  }
}

TEST_P(FamilyTest, FiniteElementsStayFinite) {
  std::mt19937_64 random(testSeed());
  for (Shape shape : {Shape::gradient, Shape::uniform, Shape::tiny, Shape::constant})
    for (float value : throughCodec(makeFloats(shape, 3000, random)))
      ASSERT_TRUE(std::isfinite(value)) << shapeName(shape);
}

std::string parameterName(const testing::TestParamInfo<FamilyTest::ParamType> &info) {
  const char *types[] = {"f32", "f16", "bf16"};
  return std::get<0>(info.param).name + "_" + std::get<1>(info.param)->name + "_" +
         types[std::get<2>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(All, FamilyTest,
                         testing::Combine(testing::ValuesIn(allCodecs()),
                                          testing::ValuesIn(supportedImplementations()),
                                          testing::Values(CGX_F32, CGX_F16, CGX_BF16)),
                         parameterName);
INSTANTIATE_TEST_SUITE_P(All, PiecewiseFamilyTest,
                         testing::Combine(testing::ValuesIn(piecewiseCodecs()),
                                          testing::ValuesIn(supportedImplementations()),
                                          testing::Values(CGX_F32, CGX_F16, CGX_BF16)),
                         parameterName);

} // namespace
} // namespace cgx::test
