//===-- plan/solvers/Solvers.h - Declarations of all solvers ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_RUNTIME_PLAN_SOLVERS_SOLVERS_H
#define CGX_RUNTIME_PLAN_SOLVERS_SOLVERS_H

#include "cgx/plan/Solver.h"

namespace cgx::plan {

Solution solveUniform(const Problem &problem, const SolverOptions &options);
Solution solveLinear(const Problem &problem, const SolverOptions &options);
Solution solveKMeans(const Problem &problem, const SolverOptions &options);
Solution solveBayes(const Problem &problem, const SolverOptions &options);
Solution solveAccordion(const Problem &problem, const SolverOptions &options);
Solution solveLGreco(const Problem &problem, const SolverOptions &options);
Solution solveLGrecoAccordion(const Problem &problem, const SolverOptions &options);
Solution solveExact(const Problem &problem, const SolverOptions &options);

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_SOLVERS_SOLVERS_H
