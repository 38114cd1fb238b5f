//===-- Curves.cpp - Loss curves as SVG -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Curves.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace cgx::plot;

namespace {

/// Told apart with every kind of colour vision (Okabe and Ito).
constexpr const char *kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr double kLeft = 64, kRight = 20, kTop = 48, kBottom = 52;

std::string format(const char *pattern, double value) {
  char text[48];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string escape(const std::string &text) {
  std::string safe;
  for (char c : text)
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

/// 1, 2 or 5 times a power of ten, of which about `count` fill the range.
double tickStep(double range, int count) {
  double rough = range / count, magnitude = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * magnitude >= rough)
      return factor * magnitude;
  return 10 * magnitude;
}

class Picture {
public:
  Picture(const std::vector<Run> &runs, const Style &style) : runs_(runs), style_(style) {
    double low = INFINITY, high = -INFINITY;
    for (const Run &run : runs) {
      steps_ = std::max(steps_, static_cast<double>(run.loss.size()) - 1);
      for (double loss : run.loss)
        if (isShown(loss)) {
          low = std::min(low, scale(loss));
          high = std::max(high, scale(loss));
        }
    }
    if (low > high)
      low = 0, high = 1;
    if (low == high)
      high = low + 1;
    double tick = style.logarithmic ? 1 : tickStep(high - low, 6);
    low_ = std::floor(low / tick) * tick;
    high_ = std::ceil(high / tick) * tick;
    for (double at = low_; at <= high_ + tick / 2; at += tick)
      ticks_.push_back(style.logarithmic ? std::pow(10, at) : std::fabs(at) < tick / 2 ? 0 : at);
  }

  std::string draw() {
    std::string size = format("%.0f", style_.width) + "\" height=\"" + format("%.0f", style_.height);
    svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
           format("%.0f ", style_.width) + format("%.0f", style_.height) +
           "\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    text(kLeft, 26, "start",
         "<tspan font-size=\"16\" font-weight=\"bold\">" + escape(style_.title) + "</tspan>");
    drawAxes();
    for (size_t i = 0; i < runs_.size(); ++i)
      drawRun(runs_[i], kColors[i % std::size(kColors)], i);
    return svg_ + "</svg>\n";
  }

private:
  double x(double step) const { return kLeft + step / steps_ * (style_.width - kLeft - kRight); }
  /// What has a place on the losses' axis.
  bool isShown(double loss) const { return std::isfinite(loss) && (!style_.logarithmic || loss > 0); }
  double scale(double loss) const { return style_.logarithmic ? std::log10(loss) : loss; }
  double y(double loss) const {
    return style_.height - kBottom - (scale(loss) - low_) / (high_ - low_) * (style_.height - kTop - kBottom);
  }

  void line(double x1, double y1, double x2, double y2, const std::string &look) {
    svg_ += "<line x1=\"" + format("%.1f", x1) + "\" y1=\"" + format("%.1f", y1) + "\" x2=\"" +
            format("%.1f", x2) + "\" y2=\"" + format("%.1f", y2) + "\" " + look + "/>\n";
  }

  void text(double atX, double atY, const char *anchor, const std::string &content) {
    svg_ += "<text x=\"" + format("%.1f", atX) + "\" y=\"" + format("%.1f", atY) + "\" text-anchor=\"" +
            anchor + "\">" + content + "</text>\n";
  }

  void drawAxes() {
    for (double loss : ticks_) {
      line(kLeft, y(loss), style_.width - kRight, y(loss), "stroke=\"#ddd\"");
      text(kLeft - 8, y(loss) + 4, "end", format("%.3g", loss));
    }
    double step = std::max(tickStep(steps_, 8), 1.0);
    for (double at = 0; at <= steps_; at += step) {
      line(x(at), style_.height - kBottom, x(at), style_.height - kBottom + 5, "stroke=\"#222\"");
      text(x(at), style_.height - kBottom + 20, "middle", format("%.0f", at));
    }
    line(kLeft, style_.height - kBottom, style_.width - kRight, style_.height - kBottom, "stroke=\"#222\"");
    text((kLeft + style_.width - kRight) / 2, style_.height - 10, "middle", "step");
    svg_ += "<text transform=\"translate(16 " + format("%.0f", (kTop + style_.height - kBottom) / 2) +
            ") rotate(-90)\" text-anchor=\"middle\">training loss</text>\n";
  }

  void drawRun(const Run &run, const std::string &color, size_t index) {
    std::string stroke = "fill=\"none\" stroke-linejoin=\"round\" stroke=\"" + color + "\" ";
    if (style_.smoothing > 1)
      polyline(run.loss, stroke + "stroke-width=\"1\" opacity=\"0.3\"");
    std::string bold = std::string("stroke-width=\"2\"") + (index == 0 ? "" : " stroke-dasharray=\"7 4\"");
    polyline(smooth(run.loss, style_.smoothing), stroke + bold);
    double top = kTop + 10 + 20 * static_cast<double>(index), left = style_.width - kRight - 200;
    line(left, top, left + 25, top, stroke + bold);
    text(left + 32, top + 4, "start", escape(run.label));
  }

  /// Breaks the line where the loss has no place.
  void polyline(const std::vector<double> &values, const std::string &look) {
    std::string points;
    auto finish = [&] {
      if (!points.empty())
        svg_ += "<polyline points=\"" + points + "\" " + look + "/>\n";
      points.clear();
    };
    for (size_t i = 0; i < values.size(); ++i) {
      if (!isShown(values[i])) {
        finish();
        continue;
      }
      points += (points.empty() ? "" : " ") + format("%.1f", x(static_cast<double>(i))) + "," +
                format("%.1f", y(values[i]));
    }
    finish();
  }

  const std::vector<Run> &runs_;
  const Style &style_;
  double steps_ = 1, low_, high_; // the ends of the axes, losses as they are scaled
  std::vector<double> ticks_;
  std::string svg_;
};

} // namespace

std::string cgx::plot::drawCurves(const std::vector<Run> &runs, const Style &style) {
  return Picture(runs, style).draw();
}
