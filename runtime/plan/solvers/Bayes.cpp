//===-- plan/solvers/Bayes.cpp - Bayesian optimization of a rule -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule gives each layer the level that is nearest to a + b * size + c * norm, with size and norm as ranks
// among the layers. A Gaussian process models the value over (a, b, c); the next rule to try is the one with
// the largest expected improvement among random ones. There are too many layers to be dimensions of their
// own.
//
//===----------------------------------------------------------------------===//

#include "Incumbent.h"
#include "Levels.h"
#include "Solvers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace cgx::plan {

namespace {

using Rule = std::array<double, 3>; // each number is from 0 to 1

constexpr int kFirstTries = 20, kTries = 100, kProposals = 200;
constexpr double kLengthScale = 0.3, kNoise = 1e-6;

double kernel(const Rule &a, const Rule &b) {
  double square = 0;
  for (size_t i = 0; i < a.size(); ++i)
    square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::exp(-square / (2 * kLengthScale * kLengthScale));
}

/// Gaussian process regression on values normalized to mean 0 and variance 1.
class Process {
public:
  void add(const Rule &rule, double value) {
    rules.push_back(rule);
    values.push_back(value);
    // Appends a row to the Cholesky factor of the kernel matrix.
    std::vector<double> row = solveLower(rule);
    double square = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    row.push_back(std::sqrt(std::max(1 + kNoise - square, kNoise)));
    factor.push_back(std::move(row));
  }

  /// Called once before proposals are judged.
  void fit() {
    double count = double(values.size());
    mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (double value : values)
      squares += (value - mean) * (value - mean);
    deviation = squares > 0 ? std::sqrt(squares / count) : 1;
    weights.assign(values.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) { // solves L w = y
      double sum = (values[i] - mean) / deviation;
      for (size_t j = 0; j < i; ++j)
        sum -= factor[i][j] * weights[j];
      weights[i] = sum / factor[i][i];
    }
    lowest = (*std::min_element(values.begin(), values.end()) - mean) / deviation;
  }

  double expectedImprovement(const Rule &rule) const {
    std::vector<double> row = solveLower(rule);
    double expected = std::inner_product(row.begin(), row.end(), weights.begin(), 0.0);
    double square = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    double sigma = std::sqrt(std::max(1 - square, 1e-12)), z = (lowest - expected) / sigma;
    double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI), below = std::erfc(-z / std::sqrt(2)) / 2;
    return sigma * (z * below + density);
  }

private:
  /// Solves L x = k(rule, rules so far).
  std::vector<double> solveLower(const Rule &rule) const {
    std::vector<double> solved;
    for (size_t i = 0; i < factor.size(); ++i) {
      double sum = kernel(rule, rules[i]);
      for (size_t j = 0; j < i; ++j)
        sum -= factor[i][j] * solved[j];
      solved.push_back(sum / factor[i][i]);
    }
    return solved;
  }

  std::vector<Rule> rules;
  std::vector<double> values, weights;
  std::vector<std::vector<double>> factor;
  double mean = 0, deviation = 1, lowest = 0;
};

/// Returns the places of values among all, from -1/2 to 1/2.
std::vector<double> ranks(const std::vector<double> &values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> places(values.size(), 0);
  for (size_t i = 0; i < order.size() && order.size() > 1; ++i)
    places[order[i]] = double(i) / double(order.size() - 1) - 0.5;
  return places;
}

} // namespace

Solution solveBayes(const Problem &problem, const SolverOptions &options) {
  Levels levels(problem);
  std::vector<double> sizes, norms;
  for (const Layer &layer : problem.layers) {
    sizes.push_back(double(layer.elements));
    norms.push_back(std::isfinite(layer.norm) ? layer.norm : 0);
  }
  sizes = ranks(sizes);
  norms = ranks(norms);
  double top = double(levels.count() - 1);
  auto apply = [&](const Rule &rule) {
    std::vector<size_t> assigned;
    for (size_t i = 0; i < sizes.size(); ++i) {
      double level = top * (rule[0] + 2 * (rule[1] - 0.5) * sizes[i] + 2 * (rule[2] - 0.5) * norms[i]);
      assigned.push_back(size_t(std::lround(std::clamp(level, 0.0, top))));
    }
    return levels.assign(assigned);
  };
  std::mt19937_64 random(options.seed);
  auto draw = [&] {
    Rule rule;
    for (double &entry : rule)
      entry = double(random() >> 11) * 0x1p-53;
    return rule;
  };
  Incumbent best(problem);
  best.offer(problem.referenceAssignment());
  Process process;
  auto judge = [&](const Rule &rule) {
    Assignment assignment = apply(rule);
    best.offer(assignment);
    Cost cost = problem.cost(assignment);
    // On a logarithmic scale a violation weighs as much as the same ratio of the value.
    auto excess = [](double got, double bound) {
      return got > bound ? std::log((got + 1e-300) / (bound + 1e-300)) : 0;
    };
    process.add(rule, std::log(problem.value(cost) + 1e-300) + 0.1 +
                          std::min(10 * excess(cost.error, problem.errorBound), 20.0) +
                          std::min(10 * excess(cost.seconds, problem.maxSeconds), 20.0));
  };
  for (int i = 0; i < kFirstTries; ++i)
    judge(draw());
  for (int i = kFirstTries; i < kTries; ++i) {
    process.fit();
    Rule proposal = draw();
    double improvement = process.expectedImprovement(proposal);
    for (int j = 1; j < kProposals; ++j) {
      Rule rule = draw();
      double expected = process.expectedImprovement(rule);
      if (expected > improvement) {
        improvement = expected;
        proposal = rule;
      }
    }
    judge(proposal);
  }
  return {best.assignment(), false};
}

} // namespace cgx::plan
