//===-- plan/solvers/Exact.cpp - The optimum, proven, without discretization -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes under an error bound alone are a multiple-choice knapsack: Core.cpp. Time, and bytes under a time
// bound, depend on the order of layers: Schedule.cpp.
//
//===----------------------------------------------------------------------===//

#include "Core.h"
#include "Incumbent.h"
#include "Schedule.h"
#include "Solvers.h"

namespace cgx::plan {

Solution solveExact(const Problem &problem, const SolverOptions &options) {
  Solution solution = problem.timeMatters()
                          ? solveSchedule(problem, options)
                          : solveByCore(problem, options.labelLimit, problem.referenceAssignment());
  if (solution.proven)
    return solution;
  // After reaching the limit, the result must still be no worse than lgreco's.
  Incumbent best(problem);
  best.offer(solution.assignment);
  best.offer(solveLGreco(problem, options).assignment);
  return {best.assignment(), false};
}

} // namespace cgx::plan
