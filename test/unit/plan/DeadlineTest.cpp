//===-- DeadlineTest.cpp - Weights of deadlines ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "solvers/Deadline.h"

#include "RandomProfile.h"
#include "Relaxation.h"
#include "cgx/plan/Solver.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace cgx::plan;

namespace {

/// Returns a lower bound of the end of communication, valid for any weights.
double boundOf(const Problem &problem, const std::vector<double> &weights) {
  Costs costs;
  double weight = 0, constant = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    weight += weights[i];
    constant += weights[i] * problem.layers[i].readySeconds;
    costs.emplace_back();
    for (const Choice &choice : problem.layers[i].choices)
      costs.back().push_back(weight * choice.seconds);
  }
  return Relaxation::solve(problem, costs).bound + constant;
}

Problem problemOf(uint64_t seed, size_t layers, double bytesPerSecond, double alpha) {
  ProblemOptions options;
  options.reference = kFourBits;
  options.objective = Objective::Time;
  options.alpha = alpha;
  options.link.bytesPerSecond = bytesPerSecond;
  return Problem::make(randomProfile(seed, layers, 8), options);
}

TEST(Deadline, WeightsGiveTheBestOfAllBounds) {
  // The links range from one where everything waits for the last layer to one where everything waits for the
  // link.
  for (double bytesPerSecond : {1e7, 1e9, 1e10, 1e11})
    for (double alpha : {0.0, 0.1, 1.0, 10.0})
      for (uint64_t seed = 1; seed <= 10; ++seed) {
        Problem problem = problemOf(seed, 3 + 7 * seed, bytesPerSecond, alpha);
        double latest = problem.cost(problem.safest()).seconds;
        std::vector<double> weights = weighDeadlines(problem, latest);
        ASSERT_EQ(weights.size(), problem.layers.size());
        for (double weight : weights)
          EXPECT_GE(weight, 0);
        EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-9);
        double bound = boundOf(problem, weights);
        EXPECT_LE(bound, latest * (1 + 1e-9));
        std::vector<double> other(weights.size(), 1.0 / double(weights.size()));
        EXPECT_GE(bound, boundOf(problem, other) * (1 - 1e-9));
        for (size_t line = 0; line < weights.size(); ++line) {
          other.assign(weights.size(), 0);
          other[line] = 1;
          EXPECT_GE(bound, boundOf(problem, other) * (1 - 1e-9))
              << "line " << line << " of seed " << seed << ", alpha " << alpha << ", " << bytesPerSecond
              << " bytes/s";
        }
      }
}

} // namespace
