//===-- cgx/plot/Canvas.h - Lines and words as SVG -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A drawing with a plot area in it. Coordinates are pixels from the upper left; an Axis
// turns values into them.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLOT_CANVAS_H
#define CGX_PLOT_CANVAS_H

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cgx::plot {

constexpr size_t kColors = 8;

/// Returns one of kColors, starting again after the last. People with any kind of color vision can tell them
/// apart (Okabe and Ito).
std::string color(size_t index);

/// Escapes text for XML.
std::string escape(const std::string &text);

/// The values along one direction, with the positions of its ticks.
class Axis {
public:
  /// Spans `low` to `high`, extended to whole ticks; `from` and `to` are pixels.
  Axis(double low, double high, bool logarithmic, double from, double to);

  bool shows(double value) const;
  double at(double value) const;
  const std::vector<double> &ticks() const { return tickValues; }

private:
  double scale(double value) const;

  bool logarithmic;
  double from, to, low, high; ///< low and high are in the axis's scale
  std::vector<double> tickValues;
};

/// Returns the step between ticks: 1, 2 or 5 times a power of ten, so that about `count` steps fill the
/// range.
double tickStep(double range, int count);

class Canvas {
public:
  Canvas(double width, double height, const std::string &title);

  void line(double x1, double y1, double x2, double y2, const std::string &look);
  void rectangle(double x, double y, double width, double height, const std::string &look);
  void circle(double x, double y, double radius, const std::string &look);
  /// Writes text. `content` may hold tags, so names from users must be escaped. `anchor` is start, middle or
  /// end.
  void text(double x, double y, const char *anchor, const std::string &content);
  /// Writes text that reads upwards.
  void uprightText(double x, double y, const std::string &content);
  void polyline(const std::vector<std::pair<double, double>> &points, const std::string &look);

  std::string finish() const { return svg + "</svg>\n"; }

private:
  std::string svg;
};

} // namespace cgx::plot

#endif // CGX_PLOT_CANVAS_H
