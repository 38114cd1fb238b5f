//===-- Progress.h - Printed progress of a run ------------------*- C++ -*-===//
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

/// Returns the time between two lines for a run of this age: about a second on a terminal, and longer in a
/// log, which would otherwise fill with lines that nobody reads.
std::chrono::seconds pauseBetweenLines(std::chrono::seconds age, bool isTerminal);

/// Formats the time that is left as `0:07`, `2:03:04` or `3d 02:03`.
std::string durationString(uint64_t seconds);

/// Formats the bytes that codecs have saved as `6.02 MB saved (6.9x)`. The text is empty if they saved none.
std::string savedString(uint64_t raw, uint64_t wire);

/// A printer of the run's progress. It writes the scalars of rank 0, the speed, the time that is left and the
/// bytes that rank 0 has saved to standard error, in whole lines that suit a terminal, a log and a notebook.
class Progress {
public:
  /// Reads the bytes from the context, which must outlive this.
  Progress(const Job &job, cgx_context *context);

  /// Prints the progress after `done` steps; the scalars are those of the last one.
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
