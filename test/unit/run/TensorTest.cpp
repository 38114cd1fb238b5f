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
  for (uint32_t i = 0; i < elementTypeCount(); ++i) {
    ElementType type(i);
    EXPECT_EQ(parseElementType(elementTypeName(type)), type);
    EXPECT_EQ(parseSafetensorsName(safetensorsName(type)), typeInFiles(type));
    EXPECT_EQ(elementBytes(type), elementBytes(typeInFiles(type)));
    EXPECT_EQ(isNarrow(type), i >= CGX_ELEMENT_TYPE_COUNT);
    if (!isNarrow(type)) {
      EXPECT_EQ(typeInFiles(type), type);
      EXPECT_EQ(elementBytes(type), cgx_element_bytes(type));
    }
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

ElementType typeNamed(const char *name) { return *parseElementType(name); }

TEST(Tensor, NarrowFloatsHaveTheValuesOfTheirFormats) {
  struct Range {
    const char *type;
    double greatest, least; // least is the smallest positive one
    bool hasInfinity;
  };
  for (const Range &range : {Range{"f8e4m3fn", 448, std::ldexp(1, -9), false},
                             {"f8e5m2", 57344, std::ldexp(1, -16), true},
                             {"f8e4m3", 240, std::ldexp(1, -9), true},
                             {"f8e4m3b11fnuz", 30, std::ldexp(1, -13), false},
                             {"f8e4m3fnuz", 240, std::ldexp(1, -10), false},
                             {"f8e5m2fnuz", 57344, std::ldexp(1, -17), false},
                             {"f8e3m4", 15.5, std::ldexp(1, -6), true},
                             {"f8e8m0fnu", std::ldexp(1, 127), std::ldexp(1, -127), false},
                             {"f6e2m3fn", 7.5, 0.125, false},
                             {"f6e3m2fn", 28, 0.0625, false},
                             {"f4e2m1fn", 6, 0.5, false}}) {
    ElementType type = typeNamed(range.type);
    double greatest = 0, least = INFINITY;
    for (int code = 0; code < 256; ++code)
      if (auto byte = static_cast<uint8_t>(code); isNarrowElement(type, byte))
        if (double value = readNarrow(type, byte); std::isfinite(value) && value > 0) {
          greatest = std::max(greatest, value);
          least = std::min(least, value);
          EXPECT_EQ(writeNarrow(type, value), byte) << range.type;
        }
    EXPECT_EQ(greatest, range.greatest) << range.type;
    EXPECT_EQ(least, range.least) << range.type;
    EXPECT_EQ(std::isinf(parsed(type, "inf")), range.hasInfinity) << range.type;
    EXPECT_FALSE(writeNarrow(type, 2 * range.greatest)) << range.type;
  }
  EXPECT_EQ(parsed(typeNamed("f8e4m3fn"), "0.3"), 0.3125);
  EXPECT_EQ(parsed(typeNamed("f8e4m3fn"), "17"), 16); // between 16 and 18
  EXPECT_EQ(parsed(typeNamed("f8e4m3fn"), "19"), 20);
  EXPECT_EQ(writeNarrow(typeNamed("f8e4m3fn"), -0.0), 0x80);
  EXPECT_EQ(writeNarrow(typeNamed("f8e4m3fnuz"), -0.0), 0);
  EXPECT_EQ(writeNarrow(typeNamed("f8e5m2fnuz"), NAN), 0x80);
  EXPECT_FALSE(writeNarrow(typeNamed("f4e2m1fn"), NAN));
}

TEST(Tensor, SmallIntegersKeepTheirRange) {
  EXPECT_EQ(parsed(typeNamed("i4"), "-8"), -8);
  EXPECT_EQ(parsed(typeNamed("u4"), "15"), 15);
  EXPECT_EQ(parsed(typeNamed("i2"), "1"), 1);
  for (auto [type, text] :
       {std::pair("i4", "8"), {"i4", "-9"}, {"u4", "16"}, {"u4", "-1"}, {"i2", "2"}, {"i4", "0.5"}})
    EXPECT_TRUE(std::isnan(parsed(typeNamed(type), text))) << type << ' ' << text;
  const int8_t values[] = {7, -8, 8};
  TensorView tensor{"x", CGX_I8, {3}, std::as_bytes(std::span(values))};
  EXPECT_EQ(findForeignElement(typeNamed("i4"), tensor), 8.0);
  EXPECT_FALSE(findForeignElement(CGX_I8, tensor));
  tensor.bytes = tensor.bytes.first(2);
  EXPECT_FALSE(findForeignElement(typeNamed("i4"), tensor));
}

/// The expected pairs are the integer part of the partial order of types by their sets of values.
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
  EXPECT_TRUE(isLosslessConversion(CGX_I8, typeNamed("i4"))); // the type in which files store it
  EXPECT_TRUE(isLosslessConversion(CGX_U8, typeNamed("f8e3m4")));
  EXPECT_FALSE(isLosslessConversion(CGX_U8, typeNamed("f8e4m3fn")));
  EXPECT_FALSE(isLosslessConversion(CGX_I8, typeNamed("u4")));
  for (uint32_t i = 0; i < elementTypeCount(); ++i)
    EXPECT_TRUE(isLosslessConversion(ElementType(i), ElementType(i)));
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
