//===-- plan/solvers/Schedule.h - The optimum of time -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_RUNTIME_PLAN_SOLVERS_SCHEDULE_H
#define CGX_RUNTIME_PLAN_SOLVERS_SCHEDULE_H

#include "cgx/plan/Solver.h"

namespace cgx::plan {

/// Returns the optimum of a problem in which time is the objective or bounded.
Solution solveSchedule(const Problem &problem, const SolverOptions &options);

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_SOLVERS_SCHEDULE_H
