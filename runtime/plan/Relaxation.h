//===-- plan/Relaxation.h - The linear relaxation and its prices -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If choices may be fractional, the knapsack is easy: on the lower convex hull of each layer's (error, cost)
// points, the steps that save most cost for the error they add are taken until the error bound is reached.
// The rate of the last step is the price of error. At that price every choice has a reduced cost, by which it
// costs more than the best of its layer, and for every assignment that fits
//
//   cost = bound + sum of reduced costs + price * (error bound - error)   >=   bound.
//
// So no better assignment contains a choice whose reduced cost exceeds the gap between a known assignment and
// the bound.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PLAN_RELAXATION_H
#define CGX_RUNTIME_PLAN_RELAXATION_H

#include "cgx/plan/Problem.h"

namespace cgx::plan {

/// The cost of each choice, by layer and choice.
using Costs = std::vector<std::vector<double>>;

struct Relaxation {
  double price = 0;   ///< price of error
  double bound = 0;   ///< no assignment that fits costs less
  Assignment base;    ///< has reduced cost 0; its error is near the bound, on either side
  Assignment rounded; ///< fits the error bound: the base without its last step
  double error = 0;   ///< error of the relaxed optimum

  /// Solves the relaxation. Some assignment must fit the error bound. Does not throw.
  static Relaxation solve(const Problem &problem, const Costs &costs);

  double reducedCost(const Problem &problem, const Costs &costs, size_t layer, size_t choice) const;
};

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_RELAXATION_H
