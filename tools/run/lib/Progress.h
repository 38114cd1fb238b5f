//===-- Progress.h - Lines for who waits ------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_PROGRESS_H
#define CGX_RUN_LIB_PROGRESS_H

#include "cgx/run/Job.h"

#include <chrono>
#include <string>

namespace cgx::run {

/// How long a run of this age waits from one line to the next: about a second for who looks on, longer in the
/// log of a job, which would be full of lines that nobody reads.
std::chrono::seconds pauseBetweenLines(std::chrono::seconds age, bool isTerminal);

/// `0:07`, `2:03:04` or `3d 02:03`, of a time that is left.
std::string durationString(uint64_t seconds);

/// `6.02 MB saved (6.9x)`, of what had been sent without codecs; empty if no more would have been.
std::string savedString(uint64_t raw, uint64_t wire);

/// Prints the scalars of rank 0, the speed, the time that is left and the bytes that rank 0 has saved to the
/// standard error as the run goes on: whole lines, which read alike on a terminal, in a log and in a
/// notebook.
class Progress {
public:
  /// The context is asked for the bytes; it outlives this.
  Progress(const Job &job, cgx_context *context);

  /// After `done` steps, the last of which gave these scalars.
  void step(uint64_t done, const std::vector<double> &scalars);

  static void evaluation(const Job &job, const Measured &measured);

private:
  using Clock = std::chrono::steady_clock;

  bool isDue(uint64_t done) const;
  std::string saved() const;
  void warnOfNotFinite(uint64_t done, const std::vector<double> &scalars);

  const Job &job_;
  cgx_context *context_;
  bool isTerminal_;
  Clock::time_point start_, last_;
  bool warned_ = false;
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_PROGRESS_H
