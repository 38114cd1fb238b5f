//===-- BatchesTest.cpp - Order of samples ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Batches.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace cgx::run;

namespace {

TEST(Sampler, GoesThroughWholeBatchesInOrder) {
  Sampler sampler(/*samples=*/10, /*batch=*/4, /*shuffle=*/false, /*seed=*/0);
  for (uint64_t i = 0; i < 24; ++i)
    EXPECT_EQ(sampler.row(i), i % 8);
}

TEST(Sampler, EveryShuffledEpochTakesSamplesOnce) {
  Sampler sampler(103, 10, /*shuffle=*/true, 5);
  std::vector<std::vector<uint64_t>> epochs(3);
  for (uint64_t i = 0; i < 300; ++i)
    epochs[i / 100].push_back(sampler.row(i));
  EXPECT_NE(epochs[0], epochs[1]);
  for (std::vector<uint64_t> &epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    EXPECT_EQ(std::adjacent_find(epoch.begin(), epoch.end()), epoch.end());
    EXPECT_LT(epoch.back(), 103u);
  }
}

TEST(Sampler, TheOrderFollowsFromTheSeedAndNotFromTheStart) {
  Sampler whole(50, 5, true, 9), resumed(50, 5, true, 9), other(50, 5, true, 10);
  std::vector<uint64_t> a, b, c;
  for (uint64_t i = 0; i < 120; ++i)
    a.push_back(whole.row(i));
  for (uint64_t i = 70; i < 120; ++i)
    b.push_back(resumed.row(i));
  for (uint64_t i = 0; i < 120; ++i)
    c.push_back(other.row(i));
  EXPECT_TRUE(std::equal(b.begin(), b.end(), a.begin() + 70));
  EXPECT_NE(a, c);
}

TEST(Batches, RanksTakeTheirRowsAndColumnsAndWiden) {
  const Mesh mesh = {{"data", 2}, {"model", 2}};
  Value batch;
  batch.type = CGX_I32;
  batch.globalShape = {4, 2, 2};
  batch.shape = {2, 2, 1};
  batch.sharding = {{"data"}, {}, {"model"}};
  std::vector<uint8_t> samples(6 * 4);
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<uint8_t>(200 + i);
  TensorView data{"x", CGX_U8, {6, 2, 2}, std::as_bytes(std::span(samples))};
  Sampler sampler(6, 4, /*shuffle=*/false, 0);
  int32_t out[4];
  // Rank 3 is data 1, model 1: rows 2 and 3, second column.
  copyBatch(batch, mesh, 3, std::span(&data, 1), sampler, /*first=*/0, reinterpret_cast<std::byte *>(out));
  EXPECT_EQ(std::vector<int32_t>(out, out + 4), (std::vector<int32_t>{209, 211, 213, 215}));
}

TEST(Batches, ValuesOfAStepAreSplitAsTheirArgumentIs) {
  const Mesh mesh = {{"data", 2}};
  Value argument;
  argument.type = CGX_I32;
  argument.globalShape = {2, 3};
  argument.shape = {1, 3};
  argument.sharding = {{"data"}, {}};
  std::vector<uint8_t> values(4 * 6);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint8_t>(i);
  TensorView data{"x", CGX_U8, {4, 2, 3}, std::as_bytes(std::span(values))};
  int32_t out[3];
  copyStepValue(argument, mesh, /*rank=*/1, data, /*step=*/2, reinterpret_cast<std::byte *>(out));
  EXPECT_EQ(std::vector<int32_t>(out, out + 3), (std::vector<int32_t>{15, 16, 17}));
}

} // namespace
