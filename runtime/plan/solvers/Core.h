//===-- plan/solvers/Core.h - An expanding core for the knapsack -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PLAN_SOLVERS_CORE_H
#define CGX_RUNTIME_PLAN_SOLVERS_CORE_H

#include "cgx/plan/Solver.h"

namespace cgx::plan {

/// Sums that are not of whole numbers differ when they differ by more, relatively: enumerating what is
/// closer than any measurement would never end.
inline constexpr double kTolerance = 1e-8;

/// The fewest bytes under the bound of the error; time does not count. Proven, unless more partial
/// assignments than the limit were looked at. Never worse than `start`; a good one saves time.
Solution solveByCore(const Problem &problem, uint64_t labelLimit, const Assignment &start);

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_SOLVERS_CORE_H
