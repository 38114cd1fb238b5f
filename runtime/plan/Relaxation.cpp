//===-- plan/Relaxation.cpp - The linear relaxation and its prices -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relaxation.h"

#include <algorithm>
#include <numeric>

namespace cgx::plan {

namespace {

/// A step down a layer's hull: less cost for more error.
struct Step {
  size_t layer, to;
  double saved, added;
};

/// Appends the steps of the lower hull of a layer. Returns its first point, the cheapest choice of least
/// error.
size_t appendHull(const std::vector<Choice> &choices, const std::vector<double> &costs, size_t layer,
                  std::vector<Step> &steps) {
  std::vector<size_t> order(choices.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return choices[a].error != choices[b].error ? choices[a].error < choices[b].error : costs[a] < costs[b];
  });
  std::vector<size_t> hull;
  for (size_t next : order) {
    if (!hull.empty() && costs[next] >= costs[hull.back()])
      continue; // it is dominated
    while (hull.size() >= 2) {
      size_t a = hull[hull.size() - 2], b = hull.back();
      // b stays if the rate of the step to it is above that of the step past it.
      double toB = (costs[a] - costs[b]) * (choices[next].error - choices[b].error);
      double past = (costs[b] - costs[next]) * (choices[b].error - choices[a].error);
      if (toB > past)
        break;
      hull.pop_back();
    }
    hull.push_back(next);
  }
  for (size_t i = 1; i < hull.size(); ++i)
    steps.push_back({layer, hull[i], costs[hull[i - 1]] - costs[hull[i]],
                     choices[hull[i]].error - choices[hull[i - 1]].error});
  return hull.front();
}

} // namespace

double Relaxation::reducedCost(const Problem &problem, const Costs &costs, size_t layer,
                               size_t choice) const {
  const std::vector<Choice> &choices = problem.layers[layer].choices;
  return costs[layer][choice] - costs[layer][base[layer]] +
         price * (choices[choice].error - choices[base[layer]].error);
}

Relaxation Relaxation::solve(const Problem &problem, const Costs &costs) {
  Relaxation relaxation;
  std::vector<Step> steps;
  double error = 0, cost = 0;
  for (size_t i = 0; i < problem.layers.size(); ++i) {
    relaxation.base.push_back(appendHull(problem.layers[i].choices, costs[i], i, steps));
    error += problem.layers[i].choices[relaxation.base[i]].error;
    cost += costs[i][relaxation.base[i]];
  }
  // Rates fall along a hull, so a stable order takes the steps of a layer one after another.
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step &a, const Step &b) { return a.saved * b.added > b.saved * a.added; });
  relaxation.rounded = relaxation.base;
  relaxation.bound = cost;
  for (const Step &step : steps) {
    relaxation.base[step.layer] = step.to;
    if (error + step.added > problem.errorBound) {
      relaxation.price = step.saved / step.added;
      relaxation.bound = cost - relaxation.price * (problem.errorBound - error);
      error = problem.errorBound;
      break;
    }
    relaxation.rounded[step.layer] = step.to;
    error += step.added;
    cost -= step.saved;
    relaxation.bound = cost;
  }
  relaxation.error = error;
  return relaxation;
}

} // namespace cgx::plan
