//===-- TensorTest.cpp - Elements: names, text and conversions -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Tensor.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace cgx::run;

namespace {

TEST(Tensor, EveryElementTypeHasTwoNames) {
  for (int i = 0; i < CGX_ELEMENT_TYPE_COUNT; ++i) {
    auto type = static_cast<ElementType>(i);
    EXPECT_EQ(parseElementType(elementTypeName(type)), type);
    EXPECT_EQ(parseSafetensorsName(safetensorsName(type)), type);
  }
  EXPECT_FALSE(parseElementType("F32"));
  EXPECT_FALSE(parseSafetensorsName("f32"));
}

TEST(Tensor, CountsRefuseOverflow) {
  EXPECT_EQ(elementCount({}), 1u);
  EXPECT_EQ(elementCount({3, 0, INT64_MAX}), 0u);
  EXPECT_FALSE(elementCount({INT64_MAX, 3}));
  EXPECT_FALSE(elementCount({int64_t{1} << 60}));
  EXPECT_FALSE(elementCount({-1, 0}));
}

double parsed(ElementType type, const char *text) {
  alignas(8) char element[8] = {};
  return parseScalar(type, text, element) ? readScalar(type, element) : NAN;
}

TEST(Tensor, ScalarsAreReadFromText) {
  EXPECT_EQ(parsed(CGX_F32, "0.5"), 0.5);
  EXPECT_EQ(parsed(CGX_F64, "-1e-300"), -1e-300);
  EXPECT_EQ(parsed(CGX_I8, "-128"), -128);
  EXPECT_EQ(parsed(CGX_U64, "12345678901"), 12345678901.0);
  EXPECT_EQ(parsed(CGX_BOOL, "true"), 1);
  EXPECT_TRUE(std::isinf(parsed(CGX_F32, "inf")));
  for (auto [type, text] : {std::pair(CGX_I8, "128"),
                            {CGX_U8, "-1"},
                            {CGX_I32, "1.5"},
                            {CGX_F32, "1x"},
                            {CGX_F32, ""},
                            {CGX_BOOL, "2"},
                            {CGX_F16, "65520"}})
    EXPECT_TRUE(std::isnan(parsed(type, text))) << text;
}

TEST(Tensor, SmallFloatsRoundToNearestEven) {
  EXPECT_EQ(parsed(CGX_F16, "1.5"), 1.5);
  EXPECT_EQ(parsed(CGX_F16, "65504"), 65504);
  EXPECT_EQ(parsed(CGX_F16, "2049"), 2048);
  EXPECT_EQ(parsed(CGX_F16, "2051"), 2052);
  EXPECT_EQ(parsed(CGX_F16, "5.9604644775390625e-8"), std::ldexp(1.0, -24));
  EXPECT_EQ(parsed(CGX_F16, "6.103515625e-05"), std::ldexp(1.0, -14));
  EXPECT_EQ(parsed(CGX_BF16, "-3.140625"), -3.140625);
  EXPECT_EQ(parsed(CGX_BF16, "257"), 256);
  EXPECT_EQ(parsed(CGX_BF16, "1e-40"), parsed(CGX_BF16, "1.001e-40"));
}

/// The integer part of the lattice of types by value sets.
TEST(Tensor, ConversionsAreLosslessOrRefused) {
  EXPECT_TRUE(isLosslessConversion(CGX_U8, CGX_I32));
  EXPECT_TRUE(isLosslessConversion(CGX_U8, CGX_I16));
  EXPECT_TRUE(isLosslessConversion(CGX_U16, CGX_F32));
  EXPECT_TRUE(isLosslessConversion(CGX_BOOL, CGX_U8));
  EXPECT_TRUE(isLosslessConversion(CGX_BF16, CGX_F32));
  EXPECT_FALSE(isLosslessConversion(CGX_U8, CGX_I8));
  EXPECT_FALSE(isLosslessConversion(CGX_I8, CGX_U32));
  EXPECT_FALSE(isLosslessConversion(CGX_I64, CGX_I32));
  EXPECT_FALSE(isLosslessConversion(CGX_I32, CGX_F32));
  EXPECT_FALSE(isLosslessConversion(CGX_F64, CGX_F32));
  EXPECT_FALSE(isLosslessConversion(CGX_U8, CGX_BOOL));
  for (int i = 0; i < CGX_ELEMENT_TYPE_COUNT; ++i)
    EXPECT_TRUE(isLosslessConversion(static_cast<ElementType>(i), static_cast<ElementType>(i)));
}

TEST(Tensor, ConversionKeepsValuesAtAnyAlignment) {
  unsigned char source[4] = {99, 0, 7, 255};
  int32_t out[3];
  convertElements(CGX_U8, source + 1, CGX_I32, out, 3);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 7);
  EXPECT_EQ(out[2], 255);
  const uint16_t halves[] = {0x3c00, 0x0001, 0x8000, 0x7c00};
  float floats[4];
  convertElements(CGX_F16, halves, CGX_F32, floats, 4);
  EXPECT_EQ(floats[0], 1.0f);
  EXPECT_EQ(floats[1], std::ldexp(1.0f, -24));
  EXPECT_TRUE(std::signbit(floats[2]));
  EXPECT_TRUE(std::isinf(floats[3]));
}

} // namespace
