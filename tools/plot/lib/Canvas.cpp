//===-- Canvas.cpp - Lines and words as SVG -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/plot/Canvas.h"

#include "cgx/plot/Text.h"

#include <cmath>

using namespace cgx::plot;

std::string cgx::plot::color(size_t index) {
  constexpr const char *colors[kColors] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                           "#e69f00", "#56b4e9", "#000000", "#999999"};
  return colors[index % kColors];
}

std::string cgx::plot::escape(const std::string &text) {
  std::string safe;
  for (char c : text)
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

double cgx::plot::tickStep(double range, int count) {
  double rough = range / count, magnitude = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * magnitude >= rough)
      return factor * magnitude;
  return 10 * magnitude;
}

Axis::Axis(double first, double last, bool logarithmic, double from, double to)
    : logarithmic(logarithmic), from(from), to(to), low(scale(first)), high(scale(last)) {
  if (!(low <= high))
    low = 0, high = 1;
  if (low == high)
    high = low + 1;
  double tick = logarithmic ? 1 : tickStep(high - low, 6);
  low = std::floor(low / tick) * tick;
  high = std::ceil(high / tick) * tick;
  for (double at = low; at <= high + tick / 2; at += tick)
    tickValues.push_back(logarithmic ? std::pow(10, at) : std::fabs(at) < tick / 2 ? 0 : at);
}

double Axis::scale(double value) const { return logarithmic ? std::log10(value) : value; }

bool Axis::shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }

double Axis::at(double value) const { return from + (scale(value) - low) / (high - low) * (to - from); }

static std::string attribute(const char *name, double value) {
  return std::string(" ") + name + "=\"" + format("%.1f", value) + "\"";
}

Canvas::Canvas(double width, double height, const std::string &title) {
  svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + format("%.0f", width) + "\" height=\"" +
        format("%.0f", height) + "\" viewBox=\"0 0 " + format("%.0f ", width) + format("%.0f", height) +
        "\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  text(64, 26, "start", "<tspan font-size=\"16\" font-weight=\"bold\">" + escape(title) + "</tspan>");
}

void Canvas::line(double x1, double y1, double x2, double y2, const std::string &look) {
  svg += "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2) +
         " " + look + "/>\n";
}

void Canvas::rectangle(double x, double y, double width, double height, const std::string &look) {
  svg += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
         attribute("height", height) + " " + look + "/>\n";
}

void Canvas::circle(double x, double y, double radius, const std::string &look) {
  svg += "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) + " " + look + "/>\n";
}

void Canvas::text(double x, double y, const char *anchor, const std::string &content) {
  svg += "<text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" + anchor + "\">" + content +
         "</text>\n";
}

void Canvas::uprightText(double x, double y, const std::string &content) {
  svg += "<text transform=\"translate(" + format("%.0f ", x) + format("%.0f", y) +
         ") rotate(-90)\" text-anchor=\"middle\">" + content + "</text>\n";
}

void Canvas::polyline(const std::vector<std::pair<double, double>> &points, const std::string &look) {
  if (points.empty())
    return;
  std::string places;
  for (auto [x, y] : points)
    places += (places.empty() ? "" : " ") + format("%.1f", x) + "," + format("%.1f", y);
  svg += "<polyline points=\"" + places + "\" " + look + "/>\n";
}
