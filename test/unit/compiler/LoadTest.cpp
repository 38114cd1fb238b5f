//===-- LoadTest.cpp - Steps in the memory of this process ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/compile.h"

#include <gtest/gtest.h>

#include <malloc.h>
#include <memory>

using namespace cgx::compile;

namespace {

/// A step whose scratch memory is a table of 16 MiB.
constexpr const char kStep[] = R"mlir(
func.func public @main(%x: tensor<2048xf32>) -> tensor<2048xf32> {
  %rows = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2048xf32>) -> tensor<2048x2048xf32>
  %table = stablehlo.cosine %rows : tensor<2048x2048xf32>
  %sums = stablehlo.dot_general %table, %x, contracting_dims = [1] x [0]
    : (tensor<2048x2048xf32>, tensor<2048xf32>) -> tensor<2048xf32>
  return %sums : tensor<2048xf32>
}
)mlir";
constexpr size_t kTableBytes = size_t(16) << 20;

size_t allocatedBytes() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

struct Buffers {
  alignas(64) float argument[2048] = {}, result[2048] = {};
};

void run(const LoadedStep &loaded) {
  auto buffers = std::make_unique<Buffers>();
  void *arguments[] = {buffers->argument}, *results[] = {buffers->result};
  loaded.step(nullptr, arguments, results);
}

LoadedStep load() {
  Options options;
  options.useCache = false;
  Outcome outcome = compileText(kStep, "step.mlir", options);
  EXPECT_TRUE(outcome.artifact) << outcome.diagnostics;
  std::string error;
  LoadedStep loaded = loadObjects(*outcome.artifact, error);
  EXPECT_EQ(error, "");
  return loaded;
}

} // namespace

TEST(LoadTest, AStepGivesItsMemoryBackWithItsCode) {
  LoadedStep loaded = load();
  ASSERT_NE(loaded.step, nullptr);
  const size_t before = allocatedBytes();
  run(loaded);
  const size_t kept = allocatedBytes();
  EXPECT_GE(kept, before + kTableBytes);
  loaded.code.reset();
  EXPECT_LE(allocatedBytes() + kTableBytes, kept);
}
