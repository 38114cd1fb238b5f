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
  size_t smoothing = 1;          ///< steps that a point of the bold line averages
  bool logarithmic = false;      ///< the losses' axis
  int width = 760, height = 440; ///< of the plot; the legend stands beside it, and may make it higher
  int legendWidth = 0;
};

/// A picture of the losses over the steps: each run a thin line with all its steps
/// and a bold one that is smoothed. Their names stand beside the plot.
std::string drawCurves(const std::vector<Run> &runs, const Style &style);

} // namespace cgx::plot

#endif // CGX_PLOT_CURVES_H
