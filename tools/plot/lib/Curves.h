//===-- Curves.h - Loss curves as SVG -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLOT_CURVES_H
#define CGX_PLOT_CURVES_H

#include "Runs.h"

namespace cgx::plot {

struct Style {
  std::string title;
  size_t smoothing = 1;     ///< the number of steps that a point of the bold line averages
  bool logarithmic = false; ///< the axis of losses is logarithmic
  /// The size of the plot; the legend lies beside it, and may make the picture higher.
  int width = 760, height = 440;
  int legendWidth = 0;
};

/// Draws the losses over the steps: for each run, a thin line through all steps and a bold one that is
/// smoothed. The names of the runs are beside the plot.
std::string drawCurves(const std::vector<Run> &runs, const Style &style);

} // namespace cgx::plot

#endif // CGX_PLOT_CURVES_H
