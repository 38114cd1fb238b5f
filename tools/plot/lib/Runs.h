//===-- Runs.h - Reports of cgx-run -----------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLOT_RUNS_H
#define CGX_PLOT_RUNS_H

#include <optional>
#include <string>
#include <vector>

namespace cgx::plot {

/// A training run, from its report and optionally that of an evaluation after it.
struct Run {
  std::string label;
  std::vector<double> loss; ///< losses by step; NaN where one was not finite
  double stepsPerSecond = 0;
  double rawBytes = 0, wireBytes = 0; ///< bytes that a rank sends in a step
  std::optional<double> validationLoss, validationAccuracy;
};

/// Reads `LABEL=train.json` or `LABEL=train.json,eval.json`. Throws std::runtime_error.
Run readRun(const std::string &text);

/// Returns the mean of the finite values in [begin, end); NaN if there is none.
double meanOf(const std::vector<double> &values, size_t begin, size_t end);

/// Returns the mean of each value and equally many neighbors before and after it, up to `width` in total, so
/// that the curve is not delayed.
std::vector<double> smooth(const std::vector<double> &values, size_t width);

} // namespace cgx::plot

#endif // CGX_PLOT_RUNS_H
