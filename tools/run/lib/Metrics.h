//===-- Metrics.h - Metrics of a run, step by step --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record per step, written when the step has ended, in the format that the name of the file
// implies. A run that continues from a checkpoint also continues its file, from that step on.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_METRICS_H
#define CGX_RUN_LIB_METRICS_H

#include "MetricsFormat.h"
#include "cgx/run/Job.h"

#include <chrono>
#include <cstdio>

namespace cgx::run {

class Metrics {
public:
  /// Throws Error when the file cannot be written.
  Metrics(const Job &job, cgx_context *context);

  /// Records `step`, which gave these scalars; `plans` have been adopted so far. Warns once where the disk is
  /// full or a reader is gone.
  void step(uint64_t step, const std::vector<double> &scalars, size_t plans);

  /// Records the evaluation after `step`.
  void evaluation(uint64_t step, const std::vector<double> &values);

private:
  using Clock = std::chrono::steady_clock;
  struct Closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  struct Totals {
    uint64_t wireBytes = 0;
    double seconds = 0; ///< seconds of communication
  };

  Totals measure() const;
  void write(const std::string &record);

  const Job &job_;
  cgx_context *context_;
  std::unique_ptr<MetricsFormat> format_;
  std::unique_ptr<std::FILE, Closer> file_;
  Totals before_;
  Clock::time_point last_;
  size_t plans_ = 0;
  bool isBroken_ = false;
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_METRICS_H
