//===-- LinkLatenciesTest.cpp - Fitting the model to measured times -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkLatencies.h"

#include <gtest/gtest.h>

using namespace cgx::bench;

namespace {

/// Returns the model's seconds for an all-reduce without elements.
double secondsOf(const cgx_link &link, cgx_algorithm algorithm, uint32_t ranks) {
  cgx_collective collective = {};
  collective.kind = CGX_ALL_REDUCE;
  collective.ranks = ranks;
  collective.schedule.algorithm = algorithm;
  const cgx_pattern pattern = cgx_pattern_of(&collective);
  return cgx_message_seconds(&link, &pattern);
}

TEST(LinkLatenciesTest, TheModelTakesAsLongAsTheMachine) {
  for (uint32_t ranks = 2; ranks <= 17; ++ranks)
    for (double latency : {2e-7, 5e-5, 1e-2})
      for (double share : {0.02, 0.5, 1.0}) {
        cgx_link link = {};
        link.latency_seconds = latency;
        link.message_seconds = share * latency;
        const double tree = secondsOf(link, CGX_ALGORITHM_TREE, ranks),
                     scatter = secondsOf(link, CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER, ranks);
        EXPECT_NEAR(fitLatency(ranks, tree), latency, 1e-9 * latency) << ranks << " ranks";
        if (ranks > 2) {
          EXPECT_NEAR(fitFurtherMessage(ranks, latency, scatter), link.message_seconds, 1e-9 * latency)
              << ranks << " ranks";
        }
      }
}

TEST(LinkLatenciesTest, NoTimeIsTooShort) {
  EXPECT_GT(fitLatency(4, 0), 0);
  // Sending to all is never faster than sending one message after another; a measurement that says so is
  // clock noise.
  EXPECT_DOUBLE_EQ(fitFurtherMessage(4, 1e-5, 1e-6), 1e-7);
}

} // namespace
