//===-- TileArithmeticTest.cpp - Tiles against plain arithmetic -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles compute parts of cgx/arithmetic differently, in fewer GPU instructions. These tests compare both ways
// for inputs that a random tensor would not reach.

#include "../kernels/Inputs.h"
#include "TileDecode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace cgx::cuda {
namespace {

TEST(TileArithmeticTest, EveryF16IsTheFloatOfTheCompiler) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = uint16_t(bits);
    _Float16 number;
    std::memcpy(&number, &half, sizeof number);
    const auto expected = float(number);
    const float found = numberOfHalf<CGX_F16>(bits << 16 | 0x3c00u, /*isUpper=*/true);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(found) && std::isnan(floatFromFloat16(half))) << bits;
    } else {
      ASSERT_EQ(floatBits(found), floatBits(expected)) << bits;
    }
    ASSERT_EQ(floatBits(computeFloatFromFloat16(half)), floatBits(floatFromFloat16(half))) << bits;
  }
}

/// This covers all upper halves of f32, with lower halves around those where rounding changes.
TEST(TileArithmeticTest, PairsRoundAsSingleElementsDo) {
  for (uint32_t upper = 0; upper <= 0xffff; ++upper)
    for (uint32_t lower :
         {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xf000u, 0xffffu}) {
      const float x = floatFromBits(upper << 16 | lower), y = floatFromBits(~(upper << 16 | lower));
      ASSERT_EQ(pairOfFloats<false>(x, y), float16FromFloat(x) | uint32_t(float16FromFloat(y)) << 16)
          << upper;
      ASSERT_EQ(pairOfFloats<true>(x, y), bfloat16FromFloat(x) | uint32_t(bfloat16FromFloat(y)) << 16)
          << upper;
      if (std::isnan(x))
        continue;
      const auto narrow = _Float16(x);
      uint16_t expected;
      std::memcpy(&expected, &narrow, sizeof expected);
      ASSERT_EQ(float16FromFloat(x), expected) << upper << " " << lower;
    }
}

template <uint32_t bits> void expectEveryLevel() {
  TileWords<bits> words;
  for (uint32_t row = 0; row < tileRows(bits); ++row)
    for (uint32_t column = 0; column < tileColumns(bits); ++column)
      for (uint32_t level = 0; level < 1u << bits; ++level) {
        const uint32_t other = ~level & ((1u << bits) - 1u);
        words.clear();
        for (uint32_t neighbour = 0; neighbour < tileRows(bits); ++neighbour) // fill the rest of the words
          if (neighbour != row)
            words.put(neighbour, column, 0xffffffffu);
        words.put(row, column, (level << (16 - bits) | 1u) | (other << (16 - bits) | 1u) << 16);
        ASSERT_EQ(words.number(row, column, /*isHigh=*/false), float(level)) << bits << " bits, row " << row;
        ASSERT_EQ(words.number(row, column, /*isHigh=*/true), float(other)) << bits << " bits, row " << row;
      }
}

TEST(TileArithmeticTest, LevelsComeBackFromTheirWords) {
  expectEveryLevel<1>();
  expectEveryLevel<2>();
  expectEveryLevel<3>();
  expectEveryLevel<4>();
  expectEveryLevel<5>();
  expectEveryLevel<6>();
  expectEveryLevel<7>();
  expectEveryLevel<8>();
}

TEST(TileArithmeticTest, ValuesAreThoseOfLevelValue) {
  std::mt19937_64 random(test::testSeed());
  const float limits[] = {largestValue(CGX_F32), largestValue(CGX_F16), largestValue(CGX_BF16)};
  uint32_t plain = 0, others = 0;
  for (int draw = 0; draw < 200000; ++draw) {
    // These are any bits of floats: NaNs, infinities, units of either sign and any size, ranges beyond the
    // limit.
    const BucketScale scale = {floatFromBits(uint32_t(random())), floatFromBits(uint32_t(random()))};
    const uint32_t bits = 1 + random() % 8, level = random() % (1u << bits);
    const float limit = limits[random() % 3];
    const LevelMap map(scale, bits, limit);
    const float expected = levelValue(scale, level, limit);
    ASSERT_EQ(floatBits(map.valueOf<false>(float(level))), floatBits(expected)) << "draw " << draw;
    if (map.isPlain) {
      ASSERT_EQ(floatBits(map.valueOf<true>(float(level))), floatBits(expected)) << "draw " << draw;
    }
    ++(map.isPlain ? plain : others);
  }
  EXPECT_GT(plain, 1000u);
  EXPECT_GT(others, 1000u);
}

TEST(TileArithmeticTest, Int8LevelsAreThoseOfADivision) {
  std::mt19937_64 random(test::testSeed());
  const auto expectLevel = [](float value, float scale) {
    ASSERT_EQ(Int8Divider(scale).levelOf(value), keepAsInt8(value, scale)) << value << " / " << scale;
  };
  for (int draw = 0; draw < 300000; ++draw) {
    const float largest = floatFromBits(uint32_t(random() % infinityBits));
    const float scale = draw % 3 ? residualScale(largest) : floatFromBits(uint32_t(random() % infinityBits));
    // These are values around the middle between two levels, where a wrong last bit of the quotient shows,
    // and random ones.
    const float middle = (float(int(random() % 256) - 128) + 0.5f) * scale;
    for (int32_t away = -2; away <= 2; ++away)
      if (const float value = floatFromBits(floatBits(middle) + uint32_t(away)); isFinite(value)) {
        ASSERT_NO_FATAL_FAILURE(expectLevel(value, scale));
      }
    ASSERT_NO_FATAL_FAILURE(expectLevel(largest, scale));
    ASSERT_NO_FATAL_FAILURE(expectLevel(-largest, scale));
    ASSERT_NO_FATAL_FAILURE(expectLevel(floatFromBits(uint32_t(random()) & 0xff7fffffu), scale));
  }
  for (float scale : {0.0f, 0x1p-149f, 0x1p-127f, 0x1p-126f, 0x1p127f, largestValue(CGX_F32)})
    for (float value :
         {0.0f, -0.0f, 0x1p-149f, -0x1p-126f, 1.0f, largestValue(CGX_F32), -largestValue(CGX_F32)})
      ASSERT_NO_FATAL_FAILURE(expectLevel(value, scale));
  for (int32_t level = -128; level <= 127; ++level)
    ASSERT_EQ(numberOfInt8(int8_t(level)), float(level));
}

TEST(TileArithmeticTest, ExactReciprocalsDivide) {
  std::mt19937_64 random(test::testSeed());
  for (uint32_t divisor = 1; divisor <= 1024; ++divisor) {
    const float reciprocal = exactReciprocal(float(divisor));
    ASSERT_EQ(reciprocal != 0.0f, (divisor & (divisor - 1)) == 0) << divisor;
    for (int draw = 0; draw < 1000 && reciprocal != 0.0f; ++draw)
      if (const float x = floatFromBits(uint32_t(random())); !std::isnan(x)) {
        ASSERT_EQ(floatBits(x * reciprocal), floatBits(x / float(divisor))) << x << " / " << divisor;
      }
  }
}

/// A half added to 2^23 rounds like a half added to the fixed-point number, for all numbers and fractions.
TEST(TileArithmeticTest, AHalfIsAddedInTheRounding) {
  std::mt19937_64 random(test::testSeed());
  for (uint32_t bits = 1; bits <= 8; ++bits)
    for (int draw = 0; draw < 100000; ++draw) {
      const uint32_t top = ((1u << bits) - 1u) << (16 - bits);
      const float distance = float(random() % (2 * top + 1)) * 0.5f, factor = draw % 2 ? 1.0f : 0.99999994f;
      const uint32_t fixed = floatBits(fusedMultiplyAdd(distance, factor, fixedPointMagic)) & 0xffffu;
      const float half = float(1u << (15 - bits));
      ASSERT_EQ(floatBits(fusedMultiplyAdd(distance, factor, fixedPointMagic + half)) & 0xffffu,
                fixed + (1u << (15 - bits)))
          << bits << " bits, " << distance;
    }
}

} // namespace
} // namespace cgx::cuda
