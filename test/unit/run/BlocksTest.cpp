//===-- BlocksTest.cpp - Blocks of a tensor ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Blocks.h"

#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace cgx::run;

namespace {

const Mesh kMesh = {{"data", 2}, {"model", 3}};

Value value(Shape global, Sharding sharding) {
  Value value;
  value.type = CGX_I32;
  value.globalShape = value.shape = std::move(global);
  value.sharding = std::move(sharding);
  for (size_t dim = 0; dim < value.shape.size(); ++dim)
    for (const std::string &axis : value.sharding[dim])
      value.shape[dim] /= axis == "data" ? 2 : 3;
  return value;
}

std::vector<Value> shardings() {
  return {value({}, {}),
          value({6, 6}, {{}, {}}),
          value({6, 6}, {{"data"}, {}}),
          value({6, 6}, {{}, {"data"}}),
          value({6, 6}, {{"model"}, {"data"}}),
          value({6, 6}, {{"data", "model"}, {}}),
          value({6, 6}, {{"model", "data"}, {}}),
          value({2, 3, 4}, {{"data"}, {"model"}, {}}),
          value({4, 5, 6}, {{"data"}, {}, {"model"}}),
          value({0, 6}, {{"data"}, {}}),
          value({6, 0}, {{"model"}, {}})};
}

std::vector<int32_t> numbered(const Value &value) {
  std::vector<int32_t> whole(*elementCount(value.globalShape));
  std::iota(whole.begin(), whole.end(), 0);
  return whole;
}

TEST(Blocks, AxesAreRowMajorAndMajorFirst) {
  EXPECT_EQ(blockOrigin(value({6}, {{"data", "model"}}), kMesh, 4), (Shape{4}));
  // model major: rank 4 is data 1, model 1, and thus block 1 * 2 + 1.
  EXPECT_EQ(blockOrigin(value({6}, {{"model", "data"}}), kMesh, 4), (Shape{3}));
  EXPECT_EQ(blockOrigin(value({6, 4}, {{"model"}, {"data"}}), kMesh, 5), (Shape{4, 2}));
}

TEST(Blocks, ExtractionPicksTheElementsOfTheBlock) {
  Value v = value({6, 4}, {{"model"}, {"data"}});
  std::vector<int32_t> whole = numbered(v), block(4);
  extractBlock(v, kMesh, /*rank=*/5, reinterpret_cast<std::byte *>(whole.data()),
               reinterpret_cast<std::byte *>(block.data()));
  EXPECT_EQ(block, (std::vector<int32_t>{18, 19, 22, 23}));
}

TEST(Blocks, BlocksOfAllRanksAreTheWhole) {
  for (const Value &v : shardings()) {
    std::vector<int32_t> whole = numbered(v), again(whole.size(), -1);
    std::set<uint64_t> indices;
    for (uint32_t rank = 0; rank < 6; ++rank) {
      std::vector<int32_t> block(*elementCount(v.shape) + 1, -7);
      extractBlock(v, kMesh, rank, reinterpret_cast<std::byte *>(whole.data()),
                   reinterpret_cast<std::byte *>(block.data()));
      EXPECT_EQ(block.back(), -7);
      insertBlock(v, kMesh, rank, reinterpret_cast<std::byte *>(block.data()),
                  reinterpret_cast<std::byte *>(again.data()));
      indices.insert(blockIndex(v, kMesh, rank));
    }
    EXPECT_EQ(again, whole) << typeString(v.type, v.globalShape);
    EXPECT_EQ(indices.size(), blockCount(v));
    EXPECT_EQ(*indices.rbegin(), blockCount(v) - 1);
  }
}

} // namespace
