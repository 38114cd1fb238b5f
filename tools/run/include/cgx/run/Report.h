//===-- cgx/run/Report.h - What a run amounts to ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_REPORT_H
#define CGX_RUN_REPORT_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// Throws Error when ranks that hold the same block of a state argument differ.
void checkReplicas(const Job &job, const std::vector<Outcome> &outcomes);

/// The hash of the state as a whole: equal for equal tensors.
std::string stateHash(const Job &job, const std::vector<Outcome> &outcomes);

/// Writes the state arguments, whole, as a state file to resume from.
void saveState(const Job &job, const std::vector<Outcome> &outcomes, const std::string &path);

/// The report as JSON text (schema in tools/run/README.md). Throws Error when the
/// bytes that the transport counted are not those that the manifest promised.
std::string writeReport(const Job &job, const std::vector<Outcome> &outcomes);

/// A few lines for the terminal, from the report's text.
std::string summarize(const std::string &report);

} // namespace cgx::run

#endif // CGX_RUN_REPORT_H
