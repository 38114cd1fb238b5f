//===-- Float16Test.cpp - Conversions of f16 and bf16 ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/arithmetic/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cgx::test {
namespace {

TEST(Float16Test, EveryF16ComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = floatFromFloat16(uint16_t(bits));
    ASSERT_EQ(float16FromFloat(value), std::isnan(value) ? (bits | 0x200) : bits); // NaNs are made quiet
  }
}

TEST(Float16Test, EveryBf16ComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = floatFromBfloat16(uint16_t(bits));
    ASSERT_EQ(bfloat16FromFloat(value), std::isnan(value) ? (bits | 0x40) : bits);
  }
}

TEST(Float16Test, RoundsF16ToNearestEven) {
  EXPECT_EQ(float16FromFloat(1.0f + 0x1p-11f), 0x3c00);            // tie, to even
  EXPECT_EQ(float16FromFloat(1.0f + 3 * 0x1p-11f), 0x3c02);        // tie, to even
  EXPECT_EQ(float16FromFloat(1.0f + 0x1p-11f + 0x1p-20f), 0x3c01); // above a tie
  EXPECT_EQ(float16FromFloat(65519.0f), 0x7bff);
  EXPECT_EQ(float16FromFloat(65520.0f), 0x7c00);
  EXPECT_EQ(float16FromFloat(-1e30f), 0xfc00);
  EXPECT_EQ(float16FromFloat(0x1p-25f), 0x0000);     // tie between 0 and the smallest
  EXPECT_EQ(float16FromFloat(3 * 0x1p-25f), 0x0002); // tie
  EXPECT_EQ(float16FromFloat(0x1p-14f - 0x1p-26f), 0x0400);
}

TEST(Float16Test, RoundsF16ToTheNearerNeighbour) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::ldexp(float(random()) / 4294967296.0f, int(random() % 40) - 26);
    const uint16_t bits = float16FromFloat(value);
    const double error = std::abs(double(floatFromFloat16(bits)) - value);
    if (bits >= 0x7c00)
      continue;
    ASSERT_LE(error, std::abs(double(floatFromFloat16(uint16_t(bits + 1))) - value)) << value;
    if (bits > 0) {
      ASSERT_LE(error, std::abs(double(floatFromFloat16(uint16_t(bits - 1))) - value)) << value;
    }
  }
}

TEST(Float16Test, RoundsBf16DownAndUp) {
  std::mt19937 random(2);
  for (int i = 0; i < 200000; ++i) {
    const float value = floatFromBits(random());
    if (!isFinite(value))
      continue;
    const float down = floatFromBfloat16(bfloat16RoundDown(value)),
                up = floatFromBfloat16(bfloat16RoundUp(value));
    ASSERT_LE(down, value);
    ASSERT_GE(up, value);
    if (floatFromBfloat16(bfloat16FromFloat(value)) == value) {
      ASSERT_EQ(down, up);
    } else if (isFinite(up) && isFinite(down)) { // neighbours
      ASSERT_EQ(std::abs(int(bfloat16RoundUp(value)) - int(bfloat16RoundDown(value))), 1);
    }
  }
}

} // namespace
} // namespace cgx::test
