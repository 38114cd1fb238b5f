//===-- ResidualTest.cpp - Storage of residuals -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "state/Residual.h"
#include "state/StateFiles.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <random>
#include <unistd.h>

namespace cgx {
namespace {

struct Kept {
  ResidualStorage storage;
  float relative; ///< the largest error, relative to the largest value near by
};

class ResidualTest : public testing::TestWithParam<Kept> {};

// Segments have any position and length, as when collectives split tensors; each read returns what was stored
// last.
TEST_P(ResidualTest, KeepsPiecesOfAnyPlaceAndLength) {
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  for (uint64_t begin : {0ull, 77ull}) {
    constexpr uint64_t elements = 1000;
    Residual residual(GetParam().storage, begin, elements);
    std::vector<float> expected(elements), got(elements);
    residual.load(begin, got);
    EXPECT_EQ(got, expected); // zero at first
    for (int round = 0; round < 200; ++round) {
      uint64_t first = random() % elements, count = random() % (elements - first) + 1;
      for (uint64_t i = 0; i < count; ++i)
        expected[first + i] = normal(random);
      residual.store(begin + first, std::span(expected).subspan(first, count));
      residual.load(begin, got);
      for (uint64_t i = 0; i < elements; ++i)
        ASSERT_NEAR(got[i], expected[i], GetParam().relative * 6.0f) << "element " << i;
      expected = got; // otherwise the rounding of blocks that are stored again would add up
    }
  }
}

TEST_P(ResidualTest, OutsideOfItNothingIsKept) {
  Residual residual(GetParam().storage, 100, 300);
  std::vector<float> values(500, 1.0f), got(500, 7.0f);
  residual.store(0, values);
  residual.load(0, got);
  for (uint64_t i = 0; i < 500; ++i)
    EXPECT_EQ(got[i], i >= 100 && i < 400 ? 1.0f : 0.0f) << i;
  residual.store(400, std::span(values).first(100));
  residual.load(20, std::span(got).first(50));
  EXPECT_EQ(got[0], 0.0f);
}

TEST_P(ResidualTest, StaysFiniteAtTheEndsOfTheRange) {
  constexpr float largest = std::numeric_limits<float>::max();
  constexpr float smallest = std::numeric_limits<float>::denorm_min();
  for (float scale : {largest, smallest, std::numeric_limits<float>::min()}) {
    Residual residual(GetParam().storage, 0, 3);
    std::vector<float> values = {scale, -scale, 0.0f}, got(3);
    residual.store(0, values);
    residual.load(0, got);
    for (float value : got)
      EXPECT_TRUE(std::isfinite(value)) << scale;
    EXPECT_EQ(got[2], 0.0f);
  }
}

TEST_P(ResidualTest, HasAllOfItsMemoryDescribed) {
  Residual residual(GetParam().storage, 0, 300), restored(GetParam().storage, 0, 300);
  std::vector<float> values(300), got(300), expected(300);
  for (uint64_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(float(i));
  residual.store(0, values);
  std::vector<StateTensor> from, to;
  residual.describe("r", from);
  restored.describe("r", to);
  ASSERT_EQ(from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i)
    std::copy_n(static_cast<const char *>(from[i].data), from[i].elements * cgx_element_bytes(from[i].type),
                static_cast<char *>(to[i].data));
  residual.load(0, expected);
  restored.load(0, got);
  EXPECT_EQ(got, expected);
}

TEST(StateFilesTest, OfAFileIsZeroKeepsWhatIsWrittenAndLeavesNoName) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("cgx-state-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  {
    Result<StateMemory> made = mapFile(folder, 10000);
    ASSERT_TRUE(made.ok()) << made.status().message();
    StateMemory memory = std::move(*made);
    for (uint64_t i = 0; i < 10000; ++i)
      ASSERT_EQ(memory.data()[i], std::byte{0}) << i;
    const std::byte *before = memory.data();
    Residual residual(ResidualStorage::Bf16, 0, 5000, std::move(memory));
    EXPECT_EQ(residual.stored().data(), before) << "moving it moves no byte";
    const std::vector<float> values(5000, 0.5f);
    residual.store(0, values);
    std::vector<float> got(5000);
    residual.load(0, got);
    EXPECT_EQ(got, values);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  std::filesystem::remove_all(folder);
}

TEST(StateFilesTest, SaysWhatThereIsNoRoomFor) {
  StateMemorySource source("/nowhere/at/all");
  (void)source.take(10);
  EXPECT_EQ(source.status().message(),
            "messages: expected a file of 10 bytes in the folder '/nowhere/at/all', "
            "got: No such file or directory");
  StateMemorySource full(std::filesystem::temp_directory_path());
  (void)full.take(uint64_t(1) << 55);
  EXPECT_FALSE(full.status().ok()) << "reserved at once";
}

INSTANTIATE_TEST_SUITE_P(Storages, ResidualTest,
                         testing::Values(Kept{ResidualStorage::F32, 0.0f},
                                         Kept{ResidualStorage::Bf16, 1.0f / 256},
                                         Kept{ResidualStorage::Int8, 1.0f / 127}));

} // namespace
} // namespace cgx
