//===-- plan/solvers/Deadline.h - The least error by a deadline, relaxed -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PLAN_SOLVERS_DEADLINE_H
#define CGX_RUNTIME_PLAN_SOLVERS_DEADLINE_H

#include "cgx/plan/Problem.h"

namespace cgx::plan {

/// Returns which of the lines of Schedule.cpp decide about the end of communication: for each layer k the
/// weight of
///
///   ready(k) + seconds(k) + ... + seconds(last),
///
/// The weights are not negative and have sum 1, such that the minimum of the weighted sum is the relaxation's
/// earliest end. `latest` is the end of some assignment within the error bound.
std::vector<double> weighDeadlines(const Problem &problem, double latest);

} // namespace cgx::plan

#endif // CGX_RUNTIME_PLAN_SOLVERS_DEADLINE_H
