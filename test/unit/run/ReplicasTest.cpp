//===-- ReplicasTest.cpp - Agreement of ranks on shared state ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Replicas.h"

#include <gtest/gtest.h>

using namespace cgx::run;

namespace {

/// Returns a job on a mesh of 2 x 2 ranks with a replicated tensor, and one that is split along the second
/// axis.
Job job() {
  Job job;
  job.manifest.ranks = 4;
  job.manifest.mesh = {{"data", 2}, {"model", 2}};
  job.manifest.arguments = {{"b", CGX_F32, {6}, {6}, {{}}, std::nullopt},
                            {"w", CGX_F32, {3}, {6}, {{"model"}}, std::nullopt}};
  job.stateArguments = {0, 1};
  job.firstStep = 100;
  job.steps = 5000;
  return job;
}

using Digests = std::vector<std::vector<uint64_t>>;

TEST(Replicas, OnlyRanksOfOneBlockMustAgree) {
  EXPECT_TRUE(findDisagreements(job(), Digests{{1, 2}, {1, 3}, {1, 2}, {1, 3}}).empty());
  const auto found = findDisagreements(job(), Digests{{1, 2}, {7, 3}, {1, 2}, {1, 4}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].tensor, "b");
  EXPECT_EQ(found[0].ranks, (std::vector<std::vector<uint32_t>>{{0, 2, 3}, {1}}));
  EXPECT_EQ(found[1].tensor, "w");
  EXPECT_EQ(found[1].ranks, (std::vector<std::vector<uint32_t>>{{1}, {3}}));
}

TEST(Replicas, TheMessageNamesTensorStepAndRanks) {
  const auto found = findDisagreements(job(), Digests{{1, 2}, {7, 3}, {1, 2}, {1, 3}});
  const std::string text = describe(job(), found, /*stepsDone=*/8);
  EXPECT_NE(text.find("after step 107 (8 of 5000 steps done)"), std::string::npos) << text;
  EXPECT_NE(text.find("'b' differs between ranks 0, 2, 3 and rank 1"), std::string::npos) << text;
}

TEST(Replicas, AreComparedOftenAtFirstAndNeverSeldom) {
  std::vector<uint64_t> compared;
  for (uint64_t done = 1; done <= 5000; ++done)
    if (isCompared(job(), done))
      compared.push_back(done);
  EXPECT_EQ(compared,
            (std::vector<uint64_t>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3072, 4096, 5000}));
}

} // namespace
