//===-- Curves.cpp - Loss curves as SVG -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Curves.h"

#include "cgx/plot/Canvas.h"
#include "cgx/plot/Text.h"

#include <algorithm>
#include <cmath>

using namespace cgx::plot;

namespace {

constexpr double kLeft = 64, kRight = 20, kTop = 48, kBottom = 52;

/// An axis from the lowest to the highest loss of all runs.
Axis lossAxis(const std::vector<Run> &runs, const Style &style) {
  double low = INFINITY, high = -INFINITY;
  for (const Run &run : runs)
    for (double loss : run.loss)
      if (std::isfinite(loss) && (!style.logarithmic || loss > 0)) {
        low = std::min(low, loss);
        high = std::max(high, loss);
      }
  return {low, high, style.logarithmic, style.height - kBottom, kTop};
}

class Picture {
public:
  Picture(const std::vector<Run> &runs, const Style &style)
      : runs_(runs), style_(style), canvas_(style.width, style.height, style.title),
        losses_(lossAxis(runs, style)) {
    for (const Run &run : runs)
      steps_ = std::max(steps_, static_cast<double>(run.loss.size()) - 1);
  }

  std::string draw() {
    drawAxes();
    for (size_t i = 0; i < runs_.size(); ++i)
      drawRun(runs_[i], color(i), i);
    return canvas_.finish();
  }

private:
  double x(double step) const { return kLeft + step / steps_ * (style_.width - kLeft - kRight); }

  void drawAxes() {
    for (double loss : losses_.ticks()) {
      canvas_.line(kLeft, losses_.at(loss), style_.width - kRight, losses_.at(loss), "stroke=\"#ddd\"");
      canvas_.text(kLeft - 8, losses_.at(loss) + 4, "end", format("%.3g", loss));
    }
    double bottom = style_.height - kBottom, step = std::max(tickStep(steps_, 8), 1.0);
    for (double at = 0; at <= steps_; at += step) {
      canvas_.line(x(at), bottom, x(at), bottom + 5, "stroke=\"#222\"");
      canvas_.text(x(at), bottom + 20, "middle", format("%.0f", at));
    }
    canvas_.line(kLeft, bottom, style_.width - kRight, bottom, "stroke=\"#222\"");
    canvas_.text((kLeft + style_.width - kRight) / 2, style_.height - 10, "middle", "step");
    canvas_.uprightText(16, (kTop + bottom) / 2, "training loss");
  }

  void drawRun(const Run &run, const std::string &color, size_t index) {
    std::string stroke = "fill=\"none\" stroke-linejoin=\"round\" stroke=\"" + color + "\" ";
    if (style_.smoothing > 1)
      drawLosses(run.loss, stroke + "stroke-width=\"1\" opacity=\"0.3\"");
    std::string bold = std::string("stroke-width=\"2\"") + (index == 0 ? "" : " stroke-dasharray=\"7 4\"");
    drawLosses(smooth(run.loss, style_.smoothing), stroke + bold);
    double top = kTop + 10 + 20 * static_cast<double>(index), left = style_.width - kRight - 200;
    canvas_.line(left, top, left + 25, top, stroke + bold);
    canvas_.text(left + 32, top + 4, "start", escape(run.label));
  }

  /// Breaks the line where the loss has no place.
  void drawLosses(const std::vector<double> &values, const std::string &look) {
    std::vector<std::pair<double, double>> points;
    for (size_t i = 0; i <= values.size(); ++i) {
      if (i == values.size() || !losses_.shows(values[i])) {
        canvas_.polyline(points, look);
        points.clear();
        continue;
      }
      points.emplace_back(x(static_cast<double>(i)), losses_.at(values[i]));
    }
  }

  const std::vector<Run> &runs_;
  const Style &style_;
  Canvas canvas_;
  Axis losses_;
  double steps_ = 1;
};

} // namespace

std::string cgx::plot::drawCurves(const std::vector<Run> &runs, const Style &style) {
  return Picture(runs, style).draw();
}
