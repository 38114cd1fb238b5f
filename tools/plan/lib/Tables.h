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

/// A row for each layer: size, codec, bits, bytes, error.
std::string layerTable(const Plan &plan);

/// What the plan costs and what the reference does, in three lines.
std::string summary(const Plan &plan);

/// What one solver made of a problem.
struct Attempt {
  const Solver *solver;
  Solution solution;
  Cost cost;
  double solveSeconds;
  std::string failure; ///< why there is no solution; else empty
};

/// A row for each attempt, relative to the reference.
std::string attemptTable(const Problem &problem, const std::vector<Attempt> &attempts);

/// Of an element of the layer as it crosses the wire, scales and headers included.
double bitsOf(const PlannedLayer &layer);

} // namespace cgx::plan

#endif // CGX_TOOLS_PLAN_TABLES_H
