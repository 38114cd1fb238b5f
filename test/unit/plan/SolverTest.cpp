//===-- SolverTest.cpp - Properties of all solvers --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Incumbent.h"
#include "RandomProfile.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/plan/Plan.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace cgx::plan;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Problem makeProblem(const Profile &profile, Objective objective = Objective::Bytes, double alpha = 1,
                    double maxSeconds = kInfinity, const std::string &reference = kFourBits) {
  ProblemOptions options;
  options.reference = reference;
  options.alpha = alpha;
  options.objective = objective;
  options.maxSeconds = maxSeconds;
  return Problem::make(profile, options);
}

double valueOf(const Problem &problem, const Assignment &assignment) {
  return problem.value(problem.cost(assignment));
}

/// Returns the smallest value of all assignments that fit, or infinity if none does.
double bruteForce(const Problem &problem) {
  Assignment assignment(problem.layers.size(), 0);
  double best = kInfinity;
  for (;;) {
    Cost cost = problem.cost(assignment);
    if (problem.fits(cost))
      best = std::min(best, problem.value(cost));
    size_t i = 0;
    while (i < assignment.size() && ++assignment[i] == problem.layers[i].choices.size())
      assignment[i++] = 0;
    if (i == assignment.size())
      return best;
  }
}

/// Returns problems of the three kinds; the last has a time bound between the fastest and the smallest.
std::vector<Problem> problemsOf(const Profile &profile, double alpha) {
  Problem smallest = makeProblem(profile, Objective::Bytes, alpha);
  Problem fastest = makeProblem(profile, Objective::Time, alpha);
  double least = valueOf(fastest, solve(findSolver("exact"), fastest).assignment);
  double most = smallest.cost(solve(findSolver("exact"), smallest).assignment).seconds;
  return {smallest, fastest,
          makeProblem(profile, Objective::Bytes, alpha, std::max(least, 0.6 * least + 0.4 * most))};
}

class EverySolver : public testing::TestWithParam<const Solver *> {};

TEST_P(EverySolver, ObeysTheBounds) {
  for (uint64_t seed = 0; seed < 40; ++seed)
    for (const Problem &problem : problemsOf(randomProfile(seed, 1 + seed % 23, 2 + seed % 14), 1)) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Solution solution;
      try {
        solution = solve(*GetParam(), problem);
      } catch (const Error &) {
        // A solver that only knows levels may fail only on a time bound.
        EXPECT_TRUE(problem.hasTimeBound());
        EXPECT_STRNE(GetParam()->name, "exact");
        continue;
      }
      ASSERT_EQ(solution.assignment.size(), problem.layers.size());
      Cost cost = problem.cost(solution.assignment);
      if (GetParam()->bounded) {
        EXPECT_TRUE(problem.fits(cost)) << cost.error << " of " << problem.errorBound;
      }
    }
}

TEST_P(EverySolver, GivesTheSameAnswerTwice) {
  Problem problem = makeProblem(randomProfile(5, 30, 9));
  EXPECT_EQ(solve(*GetParam(), problem).assignment, solve(*GetParam(), problem).assignment);
}

TEST_P(EverySolver, IsNoWorseThanTheReferenceWhereItIsBounded) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Problem problem = makeProblem(randomProfile(seed, 25, 12));
    if (GetParam()->bounded) {
      EXPECT_LE(valueOf(problem, solve(*GetParam(), problem).assignment), problem.reference.bytes) << seed;
    }
  }
}

TEST_P(EverySolver, KeepsAllExactWhenNoErrorIsAllowed) {
  Problem problem = makeProblem(randomProfile(3, 12, 8), Objective::Bytes, /*alpha=*/0);
  Cost cost = problem.cost(solve(*GetParam(), problem).assignment);
  if (GetParam()->bounded) {
    EXPECT_EQ(cost.error, 0);
  }
}

TEST_P(EverySolver, KeepsALayerExactWhoseGradientIsNotFinite) {
  Profile profile = randomProfile(4, 6, 8);
  profile.layers[3].gradientNorm = kInfinity;
  for (Candidate &candidate : profile.layers[3].candidates)
    candidate.squaredError = candidate.codec == kUncompressed ? 0 : kInfinity;
  Problem problem = makeProblem(profile);
  Solution solution = solve(*GetParam(), problem);
  EXPECT_EQ(problem.layers[3].choices[solution.assignment[3]].codec, kUncompressed);
}

TEST_P(EverySolver, TakesASingleLayerWithASingleCandidate) {
  Profile profile = randomProfile(6, 1, 1);
  Problem problem = makeProblem(profile, Objective::Bytes, 1, kInfinity, kUncompressed);
  EXPECT_EQ(solve(*GetParam(), problem).assignment, Assignment{0});
}

std::string testName(const testing::TestParamInfo<const Solver *> &info) {
  std::string name = info.param->name;
  std::replace(name.begin(), name.end(), '+', '_');
  return name;
}

std::vector<const Solver *> allSolvers() {
  std::vector<const Solver *> all;
  for (const Solver &solver : solvers())
    all.push_back(&solver);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Solvers, EverySolver, testing::ValuesIn(allSolvers()), testName);

TEST(Incumbent, IsNearestToTheBoundsUntilSomethingFits) {
  Problem problem;
  problem.errorBound = 0.01;
  problem.maxSeconds = 0.5;
  Layer layer;
  layer.choices = {{.codec = "wrong", .error = 0.05, .bytes = 1, .seconds = 0.4},
                   {.codec = "small", .error = 0.01, .bytes = 2, .seconds = 0.4},
                   {.codec = "large", .error = 0.005, .bytes = 3, .seconds = 0.5},
                   {.codec = "late", .error = 0, .bytes = 4, .seconds = 2}};
  problem.layers = {layer};
  const size_t wrong = 0, small = 1, large = 2, late = 3;
  Incumbent incumbent(problem);
  // One is four times too late, the other has five times the error.
  EXPECT_EQ(incumbent.assignment(), Assignment{late});
  incumbent.offer({wrong});
  EXPECT_EQ(incumbent.assignment(), Assignment{late});
  EXPECT_FALSE(incumbent.fits());
  incumbent.offer({large});
  EXPECT_EQ(incumbent.assignment(), Assignment{large});
  EXPECT_TRUE(incumbent.fits());
  incumbent.offer({small});
  incumbent.offer({large});
  incumbent.offer({wrong});
  EXPECT_EQ(incumbent.assignment(), Assignment{small});
}

TEST(ExactSolver, EqualsBruteForce) {
  int bounded = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    Profile profile = randomProfile(seed, 1 + random() % 6, 2 + random() % 5);
    double alpha = 0.05 + double(random() % 200) / 100;
    for (const Problem &problem : problemsOf(profile, alpha)) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      double best = bruteForce(problem);
      Solution solution = solve(findSolver("exact"), problem);
      EXPECT_TRUE(solution.proven);
      EXPECT_NEAR(valueOf(problem, solution.assignment), best, 1e-9 * best);
      bounded += problem.hasTimeBound() && best > bruteForce(problemsOf(profile, alpha)[0]);
    }
  }
  EXPECT_GT(bounded, 10) << "the bound of time should matter in some of the problems";
}

TEST(ExactSolver, HandlesManyEqualLayers) {
  Profile profile = randomProfile(1, 1, 9);
  for (int i = 1; i < 300; ++i) {
    profile.layers.push_back(profile.layers[0]);
    profile.layers[i].layer += std::to_string(i);
    profile.layers[i].position = i;
  }
  Problem problem = makeProblem(profile);
  Solution solution = solve(findSolver("exact"), problem);
  EXPECT_TRUE(solution.proven);
  EXPECT_LE(valueOf(problem, solution.assignment),
            valueOf(problem, solve(findSolver("lgreco"), problem).assignment));
}

TEST(ExactSolver, SaysSoWhenItGivesUp) {
  Problem problem = makeProblem(randomProfile(2, 200, 15));
  SolverOptions options;
  options.labelLimit = 10;
  Solution solution = solve(findSolver("exact"), problem, options);
  EXPECT_FALSE(solution.proven);
  EXPECT_LE(valueOf(problem, solution.assignment),
            valueOf(problem, solve(findSolver("lgreco"), problem).assignment));
}

TEST(LGreco, IsWithinItsDiscretizationOfTheOptimum) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    size_t layers = 1 + seed % 40;
    Profile profile = randomProfile(seed, layers, 15);
    SolverOptions options;
    options.discretization = 1000;
    Problem problem = makeProblem(profile), tight = problem;
    // Rounding up costs each layer less than one step.
    tight.errorBound *= 1 - double(layers) / options.discretization;
    double got = valueOf(problem, solve(findSolver("lgreco"), problem, options).assignment);
    EXPECT_GE(got, valueOf(problem, solve(findSolver("exact"), problem).assignment)) << seed;
    EXPECT_LE(got, valueOf(tight, solve(findSolver("exact"), tight).assignment)) << seed;
  }
}

TEST(LGreco, TakesAReferenceThatRoundingMakesInfeasible) {
  Problem problem = makeProblem(randomProfile(8, 50, 6));
  SolverOptions options;
  options.discretization = 3; // with fewer steps than layers almost nothing fits
  Cost cost = problem.cost(solve(findSolver("lgreco"), problem, options).assignment);
  EXPECT_TRUE(problem.fits(cost));
  EXPECT_LE(cost.bytes, problem.reference.bytes);
}

TEST(Accordion, CompressesMoreWhereNormsAreSteady) {
  Profile steady = randomProfile(9, 20, 9), changing = steady;
  for (size_t i = 0; i < steady.layers.size(); ++i) {
    steady.layers[i].previousNorm = steady.layers[i].gradientNorm;
    changing.layers[i].previousNorm = steady.layers[i].gradientNorm * 10;
  }
  const Solver &accordion = findSolver("accordion");
  Problem calm = makeProblem(steady), wild = makeProblem(changing);
  EXPECT_LT(valueOf(calm, solve(accordion, calm).assignment),
            valueOf(wild, solve(accordion, wild).assignment));
  const Solver &both = findSolver("lgreco+accordion");
  EXPECT_LE(valueOf(calm, solve(both, calm).assignment), valueOf(calm, solve(accordion, calm).assignment));
}

TEST(Problem, RefusesWhatCannotBeDecided) {
  Profile profile = randomProfile(1, 3, 4);
  EXPECT_THROW(makeProblem(Profile()), Error);
  EXPECT_THROW(makeProblem(profile, Objective::Bytes, 1, kInfinity, parseCodecLabel("quantize bits=7")),
               Error);
  EXPECT_THROW(solve(findSolver("exact"), makeProblem(profile, Objective::Bytes, 1, 1e-9)), Error);
  profile.layers[1].candidates.erase(profile.layers[1].candidates.begin());
  EXPECT_THROW(makeProblem(profile), Error);
  EXPECT_THROW(findSolver("greedy"), Error);
}

/// Returns a profile in which half of the layers are weights, whose errors are a million times those of
/// gradients.
Profile twoKinds(uint64_t seed) {
  Profile profile = randomProfile(seed, 6, 4);
  for (size_t i = 0; i < profile.layers.size(); i += 2) {
    profile.layers[i].kind = "weight";
    for (Candidate &candidate : profile.layers[i].candidates)
      candidate.squaredError *= 1e6;
  }
  return profile;
}

TEST(Problem, KindsWithReferencesOfTheirOwnCountAlike) {
  Profile profile = twoKinds(3);
  ProblemOptions options;
  options.setReference("quantize bits=4 bucket=128");
  options.setReference("weight=quantize bits=4 bucket=128");
  Problem problem = Problem::make(profile, options);
  std::map<std::string, double> errors;
  for (const Layer &layer : problem.layers)
    errors[layer.kind] += layer.reference.error;
  EXPECT_DOUBLE_EQ(errors["weight"], errors["gradient"]);
  const Solver &exact = findSolver("exact");
  Solution solution = solve(exact, problem);
  EXPECT_DOUBLE_EQ(valueOf(problem, solution.assignment), bruteForce(problem));
  // The plan repeats the measurements of each layer.
  Plan plan = makePlan(profile, options, problem, exact, solution);
  for (const PlannedLayer &layer : plan.layers)
    for (const LayerProfile &measured : profile.layers)
      for (const Candidate &candidate : measured.candidates)
        if (measured.layer == layer.layer && candidate.codec == layer.codec) {
          EXPECT_NEAR(layer.squaredError, candidate.squaredError, 1e-9 * candidate.squaredError);
        }
}

TEST(Problem, WithoutThemErrorsAreAsTheyWereMeasured) {
  Problem problem = makeProblem(twoKinds(3));
  for (const Layer &layer : problem.layers)
    EXPECT_EQ(layer.errorScale, 1);
}

TEST(Problem, RefusesTheReferenceOfAKindThatIsNotThere) {
  ProblemOptions options;
  options.setReference("quantize bits=4 bucket=128");
  options.setReference("activation=quantize bits=8");
  EXPECT_THROW(Problem::make(twoKinds(3), options), Error);
  options.references.clear();
  options.setReference("weight=quantize bits=7");
  EXPECT_THROW(Problem::make(twoKinds(3), options), Error);
}

TEST(Problem, IsInTheOrderOfCommunication) {
  Profile profile = randomProfile(1, 3, 4);
  profile.layers[0].position = 7;
  EXPECT_EQ(makeProblem(profile).layers.back().name, "params/l0/w");
}

TEST(Problem, HidesWhatTravelsDuringTheBackwardPass) {
  Profile profile = randomProfile(1, 2, 4);
  profile.layers[0].readySeconds = 0;
  profile.layers[1].readySeconds = 1000; // long after the first was sent
  Problem problem = makeProblem(profile, Objective::Time);
  Assignment small = {0, 0}, large = {problem.layers[0].choices.size() - 1, 0};
  EXPECT_EQ(problem.cost(small).seconds, problem.cost(large).seconds);
}

} // namespace
