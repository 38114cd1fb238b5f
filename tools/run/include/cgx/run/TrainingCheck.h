//===-- cgx/run/TrainingCheck.h - Check that a program trains and compresses -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run that trains nothing, or compresses nothing, ends like any other. The user is told before
// the first step.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_TRAININGCHECK_H
#define CGX_RUN_TRAININGCHECK_H

#include "cgx/run/Manifest.h"

namespace cgx::run {

/// Returns true if some result is the next value of an argument.
bool trains(const Manifest &manifest);

/// Throws Error for a program that computes new state but feeds none of it back, so that all its steps would
/// start from equal state.
void checkFeeds(const Manifest &manifest);

/// Describes what the run will not do, in one sentence each: train, exchange data, compress. With `plans`,
/// codecs may still come from a plan.
std::vector<std::string> describeOmissions(const Manifest &manifest, bool plans);

} // namespace cgx::run

#endif // CGX_RUN_TRAININGCHECK_H
