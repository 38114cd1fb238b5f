//===-- SafetensorsTest.cpp - Files of named tensors, good and hostile -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Safetensors.h"
#include "Allocations.h"
#include "cgx/run/Error.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

using namespace cgx::run;

namespace {

std::string file(uint64_t length, const std::string &header, const std::string &data) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string file(const std::string &header, const std::string &data) {
  return file(header.size(), header, data);
}

SafetensorsFile parse(const std::string &bytes) {
  return SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "t.safetensors");
}

/// Returns the error that `bytes` are rejected with; empty when they are accepted.
std::string refusal(const std::string &bytes) {
  // The copy has the exact size, so that the sanitizer sees a read past its end.
  std::vector<char> exact(bytes.begin(), bytes.end());
  try {
    SafetensorsFile::parse(std::as_bytes(std::span(exact)), "t.safetensors");
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

#define EXPECT_REFUSED(bytes, part) EXPECT_NE(refusal(bytes).find(part), std::string::npos) << refusal(bytes)

const std::string kTwo = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                         R"("b":{"dtype":"U8","shape":[1,3],"data_offsets":[8,11]}})";

TEST(Safetensors, ReadsTensorsAndMetadata) {
  std::string bytes =
      file(R"({"__metadata__":{"k":"v"},"x":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})",
           std::string("\x07\0\0\0", 4));
  SafetensorsFile read = parse(bytes);
  EXPECT_EQ(read.metadata().at("k"), "v");
  ASSERT_EQ(read.tensors().size(), 1u);
  const TensorView *x = read.find("x");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->type, CGX_I32);
  EXPECT_TRUE(x->shape.empty());
  EXPECT_EQ(readScalar(x->type, x->bytes.data()), 7.0);
  EXPECT_EQ(read.find("y"), nullptr);
}

TEST(Safetensors, TakesEmptyFilesAndEmptyTensors) {
  EXPECT_EQ(refusal(file("{}", "")), "");
  EXPECT_EQ(refusal(file(R"({"e":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]}})", "")), "");
  EXPECT_EQ(
      refusal(file(R"({"e":{"dtype":"F32","shape":[9223372036854775807,2,0],"data_offsets":[0,0]}})", "")),
      "");
}

TEST(Safetensors, ToleratesPaddingAfterTheHeader) { EXPECT_EQ(refusal(file("{}      ", "")), ""); }

TEST(Safetensors, RefusesEveryTruncation) {
  std::string whole = file(kTwo, "abcdefghijk");
  ASSERT_EQ(refusal(whole), "");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refusal(whole.substr(0, size)), "") << "of " << size << " bytes";
}

TEST(Safetensors, RefusesBytesThatBelongToNoTensor) {
  EXPECT_REFUSED(file(kTwo, "abcdefghijkl"), "expected 11 bytes of data, got 12");
  EXPECT_REFUSED(file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "ab"), "starts at 1");
}

TEST(Safetensors, RefusesHugeHeaders) {
  EXPECT_REFUSED(file(UINT64_MAX, "{}", ""), "header of at most");
  EXPECT_REFUSED(file(UINT64_MAX - 7, "{}", ""), "header of at most");
  EXPECT_REFUSED(file(50'000'000, "{}", ""), "the header needs 50000000 bytes");
}

TEST(Safetensors, RefusesOverlappingTensors) {
  EXPECT_REFUSED(file(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                      R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                      "abcdef"),
                 "'b': overlaps");
  EXPECT_REFUSED(file(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                      R"("b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                      "abcd"),
                 "overlaps");
}

TEST(Safetensors, RefusesBadOffsets) {
  auto with = [](const std::string &offsets) {
    return file(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + offsets + "}}", "ab");
  };
  EXPECT_EQ(refusal(with("[0,2]")), "");
  EXPECT_REFUSED(with("[2,0]"), "outside");
  EXPECT_REFUSED(with("[0,3]"), "outside");
  EXPECT_REFUSED(with("[9223372036854775806,9223372036854775807]"), "outside");
  EXPECT_REFUSED(with("[-1,1]"), "to be sizes, got -1");
  EXPECT_REFUSED(with("[0,18446744073709551615]"), "to be sizes");
  EXPECT_REFUSED(with("[0,99999999999999999999]"), "to be sizes");
  EXPECT_REFUSED(with("[0,2.0]"), "to be sizes");
  EXPECT_REFUSED(with("[0]"), "array of two");
  EXPECT_REFUSED(with("\"0,2\""), "array of two");
}

TEST(Safetensors, RefusesShapesThatDoNotFitTheirBytes) {
  auto with = [](const std::string &dtype, const std::string &shape) {
    return file(R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[0,8]}})",
                "abcdefgh");
  };
  EXPECT_EQ(refusal(with("F32", "[2]")), "");
  EXPECT_EQ(refusal(with("F64", "[]")), "");
  EXPECT_REFUSED(with("F32", "[3]"), "f32[3] does not fill 8 bytes");
  EXPECT_REFUSED(with("U8", "[4294967296,4294967296]"), "does not fill");
  EXPECT_REFUSED(with("U8", "[9223372036854775807,9223372036854775807,9]"), "does not fill");
  EXPECT_REFUSED(with("F32", "[-2]"), "sizes");
  EXPECT_REFUSED(with("F32", "{}"), "shape to be an array");
  EXPECT_REFUSED(with("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]"), "at most 16");
  EXPECT_EQ(refusal(with("F8_E4M3", "[8]")), "");
  EXPECT_REFUSED(with("F128", "[8]"), "dtype F128 is not supported");
  EXPECT_REFUSED(with("F4", "[16]"),
                 "dtype F4 is not supported: write the bits of each element as one of U8");
}

TEST(Safetensors, RefusesMalformedHeaders) {
  EXPECT_REFUSED(file("", ""), "malformed header");
  EXPECT_REFUSED(file("{", ""), "malformed header");
  EXPECT_REFUSED(file("[]", ""), "JSON object");
  EXPECT_REFUSED(file("{\"a\":1}", ""), "'a': expected an object");
  EXPECT_REFUSED(file(R"({"a":{"shape":[],"data_offsets":[0,0]}})", ""), "dtype, shape and data_offsets");
  EXPECT_REFUSED(file(R"({"a":{"dtype":4,"shape":[],"data_offsets":[0,0]}})", ""), "dtype to be a string");
  EXPECT_REFUSED(file(R"({"__metadata__":{"k":1}})", ""), "'k' to be a string");
  EXPECT_REFUSED(file(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                      R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                      ""),
                 "'a' is there twice");
  EXPECT_REFUSED(file("{\"\xff\":1}", ""), "malformed header");
  EXPECT_NE(refusal(file(std::string(100000, '['), "")), "");
}

TEST(Safetensors, SurvivesRandomDamage) {
  const unsigned seed = 20261120;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::string whole = file(kTwo, "abcdefghijk");
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    refusal(damaged); // it may be rejected or accepted, but never read out of bounds
  }
}

TEST(Safetensors, WhatIsWrittenIsReadBack) {
  std::string path = testing::TempDir() + "/cgx-written-" + std::to_string(::getpid()) + ".safetensors";
  std::vector<uint8_t> bytes = {1, 2, 3};
  std::vector<double> doubles = {1.5, -2.5};
  writeSafetensors(path,
                   {{"state['a']", CGX_U8, {3}, std::as_bytes(std::span(bytes))},
                    {"state['b']", CGX_F64, {2, 1}, std::as_bytes(std::span(doubles))}},
                   {{"cgx.steps", "7"}});
  SafetensorsFile read = SafetensorsFile::open(path);
  std::filesystem::remove(path);
  EXPECT_EQ(read.metadata().at("cgx.steps"), "7");
  const TensorView *b = read.find("state['b']");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->shape, (Shape{2, 1}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b->bytes.data()) % 8, 0u) << "wide elements are aligned";
  EXPECT_EQ(readScalar(CGX_F64, b->bytes.data() + 8), -2.5);
  EXPECT_EQ(std::memcmp(read.find("state['a']")->bytes.data(), bytes.data(), 3), 0);
}

/// Returns the heap bytes that writing and reading a file of so many tensors takes.
uint64_t bytesOf(int count) {
  std::string path = testing::TempDir() + "/cgx-many-" + std::to_string(::getpid()) + ".safetensors";
  std::vector<TensorView> tensors;
  const float value = 1;
  for (int i = 0; i < count; ++i)
    tensors.push_back({"layer" + std::to_string(i), CGX_F32, {1}, std::as_bytes(std::span(&value, 1))});
  const uint64_t before = allocatedBytes();
  writeSafetensors(path, tensors, {});
  const SafetensorsFile read = SafetensorsFile::open(path);
  const uint64_t bytes = allocatedBytes() - before;
  std::filesystem::remove(path);
  EXPECT_EQ(read.tensors().size(), tensors.size());
  EXPECT_NE(read.find("layer" + std::to_string(count - 1)), nullptr);
  return bytes;
}

/// A state has many tensors if a model has many layers, and the bytes per tensor must not grow with their
/// number. FormatsTest counts the comparisons of names.
TEST(Safetensors, TakesTensorsByTheTenThousand) { EXPECT_LT(bytesOf(40'000), 2 * 10 * bytesOf(4000)); }

TEST(Safetensors, RefusesANameThatIsThereTwiceAmongMany) {
  std::string header = "{";
  for (int i = 0; i < 2000; ++i)
    header += "\"t" + std::to_string(i % 1999) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
  header.back() = '}';
  EXPECT_REFUSED(file(header, ""), "'t0' is there twice");
}

TEST(Safetensors, RefusesHeadersThatAreTooDeep) {
  std::string deep(80'000, '[');
  EXPECT_REFUSED(file(deep + std::string(80'000, ']'), ""), "at most 64 arrays and objects in each other");
  EXPECT_REFUSED(file(R"({"a":)" + deep, ""), "at most 64 arrays and objects in each other");
}

TEST(Safetensors, NamesTheFileThatIsMissing) {
  try {
    SafetensorsFile::open("/nonexistent/x.safetensors");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "cannot open '/nonexistent/x.safetensors': No such file or directory");
  }
}

} // namespace
