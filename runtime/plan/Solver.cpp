//===-- plan/Solver.cpp - The interface and table of solvers ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/plan/Solver.h"

#include "cgx/plan/Error.h"
#include "solvers/Solvers.h"

#include <sstream>

namespace cgx::plan {

static constexpr Solver kSolvers[] = {
    {"uniform", "the same codec everywhere, the best that fits", true, solveUniform},
    {"linear", "levels by gradient norm per element, interpolated (CGX 3.5.1)", true, solveLinear},
    {"kmeans", "levels by clusters of size and norm (CGX, Algorithm 3.1)", true, solveKMeans},
    {"bayes", "levels by a rule whose weights Bayesian optimization finds", true, solveBayes},
    {"accordion", "the reference where the norm of a layer changes, a level less elsewhere", false,
     solveAccordion},
    {"lgreco", "dynamic programming over discretized error (L-GreCo, Algorithm 4.1)", true, solveLGreco},
    {"lgreco+accordion", "lgreco under the error of what accordion would do", false, solveLGrecoAccordion},
    {"exact", "the optimum, without discretization: a core problem, its Pareto fronts and bounds", true,
     solveExact}};

std::span<const Solver> solvers() { return kSolvers; }

const Solver &findSolver(std::string_view name) {
  std::string known;
  for (const Solver &solver : kSolvers) {
    if (solver.name == name)
      return solver;
    known += (known.empty() ? "" : ", ") + std::string(solver.name);
  }
  throw Error("expected a solver among " + known + ", got '" + std::string(name) + "'");
}

Solution solve(const Solver &solver, const Problem &problem, const SolverOptions &options) {
  Solution solution = solver.solve(problem, options);
  Cost cost = problem.cost(solution.assignment);
  if (solver.bounded && !problem.fits(cost)) {
    std::ostringstream text;
    text << solver.name << " found nothing with a squared error of at most " << problem.errorBound
         << " in at most " << problem.maxSeconds << " s: its best has " << cost.error << " and takes "
         << cost.seconds << " s";
    throw Error(text.str());
  }
  return solution;
}

} // namespace cgx::plan
