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

/// Sums that are not of whole numbers count as different only above this relative difference: enumerating
/// differences below the precision of any measurement would never end.
inline constexpr double kTolerance = 1e-8;

/// Minimizes bytes under the error bound; time does not count. The result is proven unless more partial
/// assignments than the limit were examined. It is never worse than `start`; a good start saves time.
Solution solveByCore(const Problem &problem, uint64_t labelLimit, const Assignment &start);

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_SOLVERS_CORE_H
