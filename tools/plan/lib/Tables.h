//===-- Tables.h - Plans as tables -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_TOOLS_PLAN_TABLES_H
#define CGX_TOOLS_PLAN_TABLES_H

#include "cgx/plan/Plan.h"

namespace cgx::plan {

/// Returns a table with a row per layer: size, codec, bits, bytes, error.
std::string layerTable(const Plan &plan);

/// Returns the costs of the plan and of the reference, in three lines.
std::string summary(const Plan &plan);

/// The result of one solver for a problem.
struct Attempt {
  const Solver *solver;
  Solution solution;
  Cost cost;
  double solveSeconds;
  std::string failure; ///< the reason why there is no solution; otherwise empty
};

/// Returns a table with a row per attempt, relative to the reference.
std::string attemptTable(const Problem &problem, const std::vector<Attempt> &attempts);

/// Returns the bits that an element of the layer takes on the wire, scales and headers included.
double bitsOf(const PlannedLayer &layer);

} // namespace cgx::plan

#endif // CGX_TOOLS_PLAN_TABLES_H
