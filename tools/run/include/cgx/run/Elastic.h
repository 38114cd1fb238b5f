//===-- cgx/run/Elastic.h - Job whose ranks may die and join ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If ranks that train by themselves (cgx-local-steps) die, the job does not end: the others
// continue from the last outer step that all of them have done. SIGUSR2 to the process that
// started them lets one more rank join at the next outer step, as a copy of rank 0.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_ELASTIC_H
#define CGX_RUN_ELASTIC_H

#include "cgx/run/Launch.h"
#include "cgx/run/Options.h"

#include <functional>
#include <memory>

namespace cgx::run {

/// A job with what it reads.
struct Prepared {
  InputFiles files;
  std::optional<InputFiles> evaluated;
  Job job;

  explicit Prepared(const Options &options) : files(options) {}
};

/// Makes the job that the options ask for, on their number of ranks. Throws Error.
using Prepare = std::function<std::unique_ptr<Prepared>(const Options &options)>;
/// Runs one membership to its end.
using Start = std::function<Ended(const Job &job)>;

/// Runs memberships until all steps are done. The outcomes of the last, whose job `prepared` is; none where a
/// checkpoint has all steps already. Throws Error when fewer ranks than `options.elastic` are left, or all
/// failed alike.
std::vector<Outcome> runElastic(const Options &options, const Prepare &prepare, const Start &start,
                                std::unique_ptr<Prepared> &prepared);

} // namespace cgx::run

#endif // CGX_RUN_ELASTIC_H
