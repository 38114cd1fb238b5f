//===-- RankErrors.h - Errors of ranks, the cause first ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_RANKERRORS_H
#define CGX_RUN_LIB_RANKERRORS_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// The text that follows the error of a thread or a process that could not be started.
constexpr const char *kLimitOfThreads = " (ulimit -u, or the most processes of a container)";

/// Throws one Error with the messages of all failed ranks, if any failed. `dead` are the ranks that died,
/// which caused the other failures.
void throwRankErrors(const std::vector<Outcome> &outcomes, const std::vector<bool> &dead);

/// Throws that Error for a job that ends by it, and adds how far the ranks came and how to continue from
/// there.
void endByRankErrors(const Job &job, const std::vector<Outcome> &outcomes, const std::vector<bool> &dead);

} // namespace cgx::run

#endif // CGX_RUN_LIB_RANKERRORS_H
