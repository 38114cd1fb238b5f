//===-- plan/solvers/Uniform.cpp - The same codec everywhere -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Incumbent.h"
#include "Levels.h"
#include "Solvers.h"

namespace cgx::plan {

Solution solveUniform(const Problem &problem, const SolverOptions &) {
  Levels levels(problem);
  Incumbent best(problem);
  for (size_t level = 0; level < levels.count(); ++level)
    best.offer(levels.uniform(level));
  return {best.assignment(), false};
}

} // namespace cgx::plan
