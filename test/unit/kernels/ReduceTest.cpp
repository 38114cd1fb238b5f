//===-- ReduceTest.cpp - Uncompressed reductions --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "cgx/kernels/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cgx::test {
namespace {

template <typename T>
std::vector<T> reduced(ReduceOp reduction, cgx_element_type type, std::vector<T> a, const std::vector<T> &b) {
  reduce(reduction, type, a.data(), b.data(), a.size());
  return a;
}

TEST(ReduceTest, ReducesFloats) {
  const std::vector<float> a = {1, -2, 3.5f}, b = {4, 5, -6};
  EXPECT_EQ(reduced(ReduceOp::sum, CGX_F32, a, b), (std::vector<float>{5, 3, -2.5f}));
  EXPECT_EQ(reduced(ReduceOp::max, CGX_F32, a, b), (std::vector<float>{4, 5, 3.5f}));
  EXPECT_EQ(reduced(ReduceOp::min, CGX_F32, a, b), (std::vector<float>{1, -2, -6}));
  EXPECT_EQ(reduced(ReduceOp::product, CGX_F32, a, b), (std::vector<float>{4, -10, -21}));
  EXPECT_EQ(reduced<double>(ReduceOp::sum, CGX_F64, {1e300}, {1e300}), (std::vector<double>{2e300}));
}

TEST(ReduceTest, PropagatesNaNsFromBothSides) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (ReduceOp reduction : {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::product})
    for (float result : reduced<float>(reduction, CGX_F32, {nan, 1.0f, nan}, {1.0f, nan, nan}))
      EXPECT_TRUE(std::isnan(result));
}

TEST(ReduceTest, RoundsSixteenBitFloatsOnce) {
  for (cgx_element_type type : {CGX_F16, CGX_BF16})
    for (ReduceOp reduction : {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::product}) {
      std::mt19937_64 random(testSeed());
      std::vector<uint8_t> a = toElements(type, makeFloats(Shape::uniform, 1001, random));
      const std::vector<uint8_t> b = toElements(type, makeFloats(Shape::uniform, 1001, random));
      std::vector<float> expected = toFloats(type, a.data(), 1001);
      const std::vector<float> other = toFloats(type, b.data(), 1001);
      reduce(reduction, type, a.data(), b.data(), 1001);
      reduce(reduction, CGX_F32, expected.data(), other.data(), 1001);
      EXPECT_EQ(a, toElements(type, expected));
    }
}

TEST(ReduceTest, IntegersWrap) {
  EXPECT_EQ(reduced<int8_t>(ReduceOp::sum, CGX_I8, {127}, {1}), (std::vector<int8_t>{-128}));
  EXPECT_EQ(reduced<int32_t>(ReduceOp::sum, CGX_I32, {INT32_MAX}, {1}), (std::vector<int32_t>{INT32_MIN}));
  EXPECT_EQ(reduced<int64_t>(ReduceOp::product, CGX_I64, {INT64_MAX}, {2}), (std::vector<int64_t>{-2}));
  EXPECT_EQ(reduced<uint16_t>(ReduceOp::product, CGX_U16, {65535}, {65535}), (std::vector<uint16_t>{1}));
  EXPECT_EQ(reduced<int16_t>(ReduceOp::min, CGX_I16, {-3}, {2}), (std::vector<int16_t>{-3}));
  EXPECT_EQ(reduced<uint64_t>(ReduceOp::max, CGX_U64, {UINT64_MAX}, {2}),
            (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_EQ(reduced<uint32_t>(ReduceOp::sum, CGX_U32, {UINT32_MAX}, {2}), (std::vector<uint32_t>{1}));
  EXPECT_EQ(reduced<uint8_t>(ReduceOp::sum, CGX_U8, {255}, {2}), (std::vector<uint8_t>{1}));
}

TEST(ReduceTest, BooleansAreOrAndAnd) {
  const std::vector<uint8_t> a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  EXPECT_EQ(reduced(ReduceOp::sum, CGX_BOOL, a, b), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(reduced(ReduceOp::max, CGX_BOOL, a, b), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(reduced(ReduceOp::product, CGX_BOOL, a, b), (std::vector<uint8_t>{0, 0, 0, 1}));
  EXPECT_EQ(reduced(ReduceOp::min, CGX_BOOL, a, b), (std::vector<uint8_t>{0, 0, 0, 1}));
}

TEST(ReduceTest, ScalesElements) {
  std::vector<float> floats = {2, 4};
  scaleElements(CGX_F32, floats.data(), 2, 0.25);
  EXPECT_EQ(floats, (std::vector<float>{0.5f, 1}));
  std::vector<double> doubles = {3};
  scaleElements(CGX_F64, doubles.data(), 1, 1.0 / 3);
  EXPECT_EQ(doubles[0], 1.0);
  std::vector<uint8_t> halves = toElements(CGX_F16, {3, 5});
  scaleElements(CGX_F16, halves.data(), 2, 0.5);
  EXPECT_EQ(toFloats(CGX_F16, halves.data(), 2), (std::vector<float>{1.5f, 2.5f}));
}

} // namespace
} // namespace cgx::test
