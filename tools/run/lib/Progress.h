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

namespace cgx::run {

/// Prints the scalars of rank 0 to the standard error as the run goes on.
class Progress {
public:
  explicit Progress(const Job &job);

  /// After `done` steps, the last of which gave these scalars.
  void step(uint64_t done, const std::vector<double> &scalars);

  static void evaluation(const Job &job, const Measured &measured);

private:
  using Clock = std::chrono::steady_clock;

  bool isDue(uint64_t done) const;
  void warnOfNotFinite(uint64_t done, const std::vector<double> &scalars);

  const Job &job_;
  Clock::time_point start_, last_;
  bool warned_ = false;
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_PROGRESS_H
