//===-- BoundStep.h - A step that can be called -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_BOUNDSTEP_H
#define CGX_RUN_LIB_BOUNDSTEP_H

#include "cgx/run/Job.h"

#include <memory>

namespace cgx::run {

/// The program of a job with the arguments and results of one rank, wherever they lie. Between two runs an
/// argument is what was written to it last: by the host, or by the result that feeds it.
class BoundStep {
public:
  virtual ~BoundStep() = default;

  /// Joins the ranks of a job. A failure leaves its words in `error`.
  virtual cgx_status connect(const cgx_context_config &config, std::string &error) = 0;
  /// Returns the context of the job that was joined; null before.
  virtual cgx_context *context() const = 0;

  /// Runs the step. Throws Error.
  virtual void run(uint64_t step) = 0;
  /// Makes results the arguments that they feed.
  virtual void feed() = 0;

  /// Returns where the host writes the whole of an argument, before the next run.
  virtual std::byte *overwriteArgument(size_t argument) = 0;
  /// Returns an argument as it is, until the next run. Throws Error.
  virtual const std::byte *readArgument(size_t argument) = 0;
  /// Returns a result of the last run that feeds nothing. Throws Error.
  virtual const std::byte *readResult(size_t result) = 0;
};

/// Returns a rank's own: on the device that the program was loaded for, or native. Throws Error.
std::unique_ptr<BoundStep> bindStep(const Job &job, uint32_t rank);

} // namespace cgx::run

#endif // CGX_RUN_LIB_BOUNDSTEP_H
