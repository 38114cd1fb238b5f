//===-- cgx/plan/Solver.h - One interface of all solvers -*- C++ -*--===//
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
  uint64_t labelLimit = 20000000;  ///< exact: partial assignments it may look at
};

struct Solution {
  Assignment assignment;
  bool proven = false; ///< nothing that fits has a smaller value
};

struct Solver {
  const char *name;
  const char *description;
  /// Whether its assignments obey the problem's bounds; the others have their own idea
  /// of how much error is right.
  bool bounded;
  Solution (*solve)(const Problem &, const SolverOptions &);
};

/// All solvers, simple ones first.
std::span<const Solver> solvers();

/// Throws Error, which names all.
const Solver &findSolver(std::string_view name);

/// Throws Error when nothing fits the problem's bounds.
Solution solve(const Solver &solver, const Problem &problem, const SolverOptions &options = {});

} // namespace cgx::plan

#endif // CGX_PLAN_SOLVER_H
