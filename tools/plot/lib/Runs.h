//===-- Runs.h - What cgx-run reported -*- C++ -*-===//
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

/// A training run, from its report and perhaps that of an evaluation after it.
struct Run {
  std::string label;
  std::vector<double> loss; ///< by step; NaN where it was not finite
  double stepsPerSecond = 0;
  double rawBytes = 0, wireBytes = 0; ///< that a rank sends in a step
  std::optional<double> validationLoss, validationAccuracy;
};

/// Reads `LABEL=train.json` or `LABEL=train.json,eval.json`. Throws
/// std::runtime_error.
Run readRun(const std::string &text);

/// The mean of the values in [begin, end) that are finite; NaN if none is.
double meanOf(const std::vector<double> &values, size_t begin, size_t end);

/// The mean of each value and as many neighbours before it as after it, up to
/// `width` in all: the curve does not lag behind.
std::vector<double> smooth(const std::vector<double> &values, size_t width);

} // namespace cgx::plot

#endif // CGX_PLOT_RUNS_H
