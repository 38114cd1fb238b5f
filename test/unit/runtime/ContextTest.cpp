//===-- ContextTest.cpp - Contexts through the C ABI -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

class ContextTest : public testing::TestWithParam<std::string> {};

TEST_P(ContextTest, AllReduceOfThreadsAddsExactly) {
  std::string job = uniqueJob();
  std::string manifest = manifestText(
      4, {collectiveJson(3, "all_reduce", everybody(4), {{.shape = {1000}}}, {{"reduction", "sum"}})});
  runThreads(4, [&](uint32_t rank) {
    ContextPtr context;
    ContextSpec spec{.transport = GetParam(), .job = job, .rank = rank, .ranks = 4, .manifest = manifest};
    ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    std::vector<float> input(1000), output(1000, -1.0f);
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = float(rank) * float(i);
    for (uint64_t step = 0; step < 3; ++step) {
      ASSERT_EQ(cgx_context_begin_step(context.get(), step), CGX_OK) << cgx_last_error();
      cgx_rt_operand(address(context.get()), 3, 0, address(input.data()), address(output.data()));
      cgx_rt_run(address(context.get()), 3);
      ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
      for (size_t i = 0; i < output.size(); ++i)
        ASSERT_EQ(output[i], 6.0f * float(i));
    }
  });
  EXPECT_EQ(leftovers(job), "");
}

INSTANTIATE_TEST_SUITE_P(Transports, ContextTest, testing::Values("inproc", "shm"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace cgx::test
