//===-- cgx/plan/Solver.h - The interface and table of solvers --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLAN_SOLVER_H
#define CGX_PLAN_SOLVER_H

#include "cgx/plan/Problem.h"

#include <span>

namespace cgx::plan {

struct SolverOptions {
  uint32_t discretization = 10000; ///< lgreco: steps of the error, D in the paper
  double eta = 0.5;                ///< accordion: change of the norm that makes a regime critical
  uint64_t seed = 0;               ///< kmeans, bayes
  uint64_t labelLimit = 20000000;  ///< exact: the most partial assignments that it examines
};

struct Solution {
  Assignment assignment;
  bool proven = false; ///< true if no assignment that fits has a smaller value
};

struct Solver {
  const char *name;
  const char *description;
  /// True if its assignments obey the problem's bounds; other solvers decide themselves how much error is
  /// acceptable.
  bool bounded;
  Solution (*solve)(const Problem &, const SolverOptions &);
};

/// Returns all solvers, simple ones first.
std::span<const Solver> solvers();

/// Returns the solver of that name. Throws Error, which lists all names.
const Solver &findSolver(std::string_view name);

/// Solves a problem. Throws Error if nothing fits its bounds.
Solution solve(const Solver &solver, const Problem &problem, const SolverOptions &options = {});

} // namespace cgx::plan

#endif // CGX_PLAN_SOLVER_H
