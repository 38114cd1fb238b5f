//===-- PackingTest.cpp - The layout of packed levels ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/arithmetic/packing.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cgx::test {
namespace {

class PackingTest : public testing::TestWithParam<uint32_t> {};

TEST_P(PackingTest, BlocksAreWholeWords) {
  const uint32_t bits = GetParam();
  EXPECT_EQ(packingRows(bits) * bits % 16, 0u);
  EXPECT_EQ(packingBlockBytes(bits), packingBlockElements(bits) * bits / 8);
  EXPECT_EQ(2048 % packingBlockElements(bits), 0u);
}

TEST_P(PackingTest, EveryBitBelongsToOneLevel) {
  const uint32_t bits = GetParam();
  for (uint64_t elements : {1u, 5u, 100u, 512u, 700u, 1024u, 1300u}) {
    const uint64_t bytes = (elements * bits + 7) / 8;
    std::vector<int> owners(bytes * 8);
    for (uint64_t i = 0; i < elements; ++i) {
      std::vector<uint8_t> packed(bytes);
      storeLevel(packed.data(), bits, levelPlace(bits, elements, i), (1u << bits) - 1);
      for (uint64_t bit = 0; bit < bytes * 8; ++bit)
        owners[bit] += packed[bit / 8] >> bit % 8 & 1;
    }
    for (uint64_t bit = 0; bit < bytes * 8; ++bit)
      ASSERT_EQ(owners[bit], bit < elements * bits ? 1 : 0) << elements << " elements, bit " << bit;
  }
}

TEST_P(PackingTest, LoadsWhatWasStored) {
  const uint32_t bits = GetParam();
  std::mt19937 random(1);
  for (uint64_t elements : {1u, 63u, 512u, 1500u}) {
    std::vector<uint8_t> packed((elements * bits + 7) / 8);
    std::vector<uint32_t> levels(elements);
    for (uint64_t i = 0; i < elements; ++i) {
      levels[i] = random() >> (32 - bits);
      storeLevel(packed.data(), bits, levelPlace(bits, elements, i), levels[i]);
    }
    for (uint64_t i = 0; i < elements; ++i)
      ASSERT_EQ(loadLevel(packed.data(), bits, levelPlace(bits, elements, i)), levels[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(AllWidths, PackingTest, testing::Range(1u, 9u));

TEST(PackingLayoutTest, FourBitBlockIsAsDocumented) {
  // Column 0 holds elements 0, 32, 64, 96; column 1 elements 16, 48, 80, 112.
  std::vector<uint8_t> packed(64);
  storeLevel(packed.data(), 4, levelPlace(4, 128, 32), 0xa);
  storeLevel(packed.data(), 4, levelPlace(4, 128, 112), 0xb);
  EXPECT_EQ(packed[0], 0xa0);
  EXPECT_EQ(packed[3], 0xb0);
}

} // namespace
} // namespace cgx::test
