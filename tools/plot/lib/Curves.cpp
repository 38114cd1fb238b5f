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
/// The height of a line of the legend, and the width of the line sample before its text.
constexpr double kLegendLine = 20, kLegendSample = 34;
/// The approximate width of a letter.
constexpr double kLetter = 7.5;

/// Returns the style of a run's line: eight colors with four dash patterns each, so that 32 runs can be told
/// apart. The first run's line is solid, because runs that are compared often coincide.
std::string lookOf(size_t index) {
  constexpr const char *dashes[] = {"7 4", "2 3", "14 4", "10 3 2 3"};
  std::string look =
      "fill=\"none\" stroke-linejoin=\"round\" stroke=\"" + color(index) + "\" stroke-width=\"2\"";
  return index == 0 ? look
                    : look + " stroke-dasharray=\"" + dashes[index / kColors % std::size(dashes)] + "\"";
}

/// Counts the characters of UTF-8 text.
size_t countLetters(const std::string &text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Returns a style with room for the legend: as wide as the longest name, and as high as all of them.
Style withLegend(const std::vector<Run> &runs, Style style) {
  size_t longest = 0;
  for (const Run &run : runs)
    longest = std::max(longest, countLetters(run.label));
  style.legendWidth = static_cast<int>(kLegendSample + kLetter * static_cast<double>(longest) + kRight);
  style.height = std::max(style.height,
                          static_cast<int>(kTop + kLegendLine * static_cast<double>(runs.size()) + kRight));
  return style;
}

/// Returns an axis from the lowest to the highest loss of all runs.
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
      : runs_(runs), style_(withLegend(runs, style)),
        canvas_(style_.width + style_.legendWidth, style_.height, style_.title),
        losses_(lossAxis(runs, style_)) {
    for (const Run &run : runs)
      steps_ = std::max(steps_, static_cast<double>(run.loss.size()) - 1);
  }

  std::string draw() {
    drawAxes();
    for (size_t i = 0; i < runs_.size(); ++i)
      drawRun(runs_[i], i);
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
    canvas_.text((kLeft + style_.width - kRight) / 2, style_.height - 10, "middle", "training step");
    canvas_.uprightText(16, (kTop + bottom) / 2,
                        style_.smoothing > 1
                            ? "training loss, mean of " + std::to_string(style_.smoothing) + " steps"
                            : "training loss");
  }

  /// Draws the line of a run, and its name beside the plot.
  void drawRun(const Run &run, size_t index) {
    if (style_.smoothing > 1)
      drawLosses(run.loss, "fill=\"none\" stroke-linejoin=\"round\" stroke=\"" + color(index) +
                               "\" stroke-width=\"1\" opacity=\"0.3\"");
    drawLosses(smooth(run.loss, style_.smoothing), lookOf(index));
    const double top = kTop + kLegendLine * (static_cast<double>(index) + 0.5), left = style_.width;
    canvas_.line(left, top, left + kLegendSample - 8, top, lookOf(index));
    canvas_.text(left + kLegendSample, top + 4, "start", escape(run.label));
  }

  /// Draws the losses. The line is interrupted where a loss cannot be shown.
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
  const Style style_;
  Canvas canvas_;
  Axis losses_;
  double steps_ = 1;
};

} // namespace

std::string cgx::plot::drawCurves(const std::vector<Run> &runs, const Style &style) {
  return Picture(runs, style).draw();
}
