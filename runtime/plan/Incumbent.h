//===-- plan/Incumbent.h - The best assignment so far -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_RUNTIME_PLAN_INCUMBENT_H
#define CGX_RUNTIME_PLAN_INCUMBENT_H

#include "cgx/plan/Problem.h"

#include <algorithm>

namespace cgx::plan {

/// Keeps the assignment of the smallest value among those that fit; until one fits, the one that comes
/// closest.
class Incumbent {
public:
  explicit Incumbent(const Problem &problem) : problem(problem) { offer(problem.safest()); }

  void offer(const Assignment &assignment) {
    Cost cost = problem.cost(assignment);
    double excess = 0; // by how much it violates the bounds, relatively
    if (!problem.fitsError(cost.error))
      excess += cost.error / std::max(problem.errorBound, std::numeric_limits<double>::min());
    if (!problem.fitsTime(cost.seconds))
      excess += cost.seconds / std::max(problem.maxSeconds, std::numeric_limits<double>::min());
    double offered = problem.value(cost);
    if (!best.empty() && !(excess < bestExcess || (excess == bestExcess && offered < bestValue)))
      return;
    best = assignment;
    bestExcess = excess;
    bestValue = offered;
  }

  const Assignment &assignment() const { return best; }
  bool fits() const { return bestExcess == 0; }
  double value() const { return bestValue; }

private:
  const Problem &problem;
  Assignment best;
  double bestExcess = 0, bestValue = 0;
};

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_INCUMBENT_H
