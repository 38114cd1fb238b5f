//===-- Drawings.cpp - Plans as drawings -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drawings.h"

#include "Tables.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/plot/Canvas.h"
#include "cgx/plot/Text.h"

#include <algorithm>
#include <cmath>

namespace cgx::plan {

using plot::Axis;
using plot::Canvas;
using plot::format;

namespace {

constexpr double kWidth = 900, kHeight = 440, kLeft = 84, kRight = 92, kTop = 48, kBottom = 52, kLegend = 170;

/// Draws the legend below the title, one name after the other.
void drawLegend(Canvas &canvas, const std::vector<std::string> &names, double left, double top) {
  for (size_t i = 0; i < names.size(); ++i, top += 20) {
    canvas.line(left, top, left + 22, top, "stroke-width=\"2\" stroke=\"" + plot::color(i) + "\"");
    canvas.text(left + 28, top + 4, "start", plot::escape(names[i]));
  }
}

void drawValueAxis(Canvas &canvas, const Axis &axis, double right, const std::string &name) {
  for (double value : axis.ticks()) {
    canvas.line(kLeft, axis.at(value), right, axis.at(value), "stroke=\"#ddd\"");
    canvas.text(kLeft - 8, axis.at(value) + 4, "end", format("%.3g", value));
  }
  canvas.uprightText(16, (kTop + kHeight - kBottom) / 2, name);
}

void checkSameLayers(const std::vector<Plan> &plans) {
  for (const Plan &plan : plans)
    for (size_t i = 0; i < std::max(plan.layers.size(), plans[0].layers.size()); ++i)
      if (plan.layers.size() != plans[0].layers.size() || plan.layers[i].layer != plans[0].layers[i].layer)
        throw Error("expected plans of the same layers in the same order: " + plan.solver + " has " +
                    std::to_string(plan.layers.size()) + ", " + plans[0].solver + " has " +
                    std::to_string(plans[0].layers.size()));
}

} // namespace

std::string drawBits(const std::vector<Plan> &plans, const std::string &title) {
  checkSameLayers(plans);
  Canvas canvas(kWidth, kHeight, title);
  const std::vector<PlannedLayer> &layers = plans[0].layers;
  double bottom = kHeight - kBottom, right = kWidth - kRight - kLegend, most = 1, smallest = INFINITY,
         largest = 1;
  for (const Plan &plan : plans)
    for (const PlannedLayer &layer : plan.layers) {
      most = std::max(most, bitsOf(layer));
      smallest = std::min(smallest, double(std::max<uint64_t>(layer.elements, 1)));
      largest = std::max(largest, double(layer.elements));
    }
  Axis bits(0, most, false, bottom, kTop),
      sizes(std::min(smallest, largest) / 2, largest, true, bottom, kTop);
  double slot = (right - kLeft) / double(std::max<size_t>(layers.size(), 1));
  drawValueAxis(canvas, bits, right, "bits of an element on the wire");
  for (size_t i = 0; i < layers.size(); ++i) {
    double top = sizes.at(double(std::max<uint64_t>(layers[i].elements, 1)));
    canvas.rectangle(kLeft + (double(i) + 0.1) * slot, top, 0.8 * slot, bottom - top,
                     "fill=\"#999\" opacity=\"0.35\"");
  }
  for (double size : sizes.ticks())
    if (sizes.at(size) >= kTop - 1 && sizes.at(size) <= bottom + 1)
      canvas.text(right + 8, sizes.at(size) + 4, "start", format("%.0e", size));
  canvas.uprightText(right + 76, (kTop + bottom) / 2, "elements of a layer (bars)");
  for (size_t i = 0; i < plans.size(); ++i) {
    std::vector<std::pair<double, double>> points;
    for (size_t j = 0; j < layers.size(); ++j)
      for (double side : {0.0, 1.0})
        points.emplace_back(kLeft + (double(j) + side) * slot, bits.at(bitsOf(plans[i].layers[j])));
    canvas.polyline(points,
                    "fill=\"none\" stroke-width=\"2\" opacity=\"0.85\" stroke=\"" + plot::color(i) + "\"");
  }
  canvas.line(kLeft, bottom, right, bottom, "stroke=\"#222\"");
  canvas.text((kLeft + right) / 2, kHeight - 14, "middle",
              "layers in the order of communication: " + std::to_string(layers.size()));
  std::vector<std::string> names;
  for (const Plan &plan : plans)
    names.push_back(plan.solver);
  drawLegend(canvas, names, kWidth - kLegend, kTop + 10);
  return canvas.finish();
}

std::string drawFronts(const std::vector<Front> &fronts, const Cost &reference, Objective objective,
                       const std::string &title) {
  auto valueOf = [&](const Cost &cost) { return objective == Objective::Bytes ? cost.bytes : cost.seconds; };
  Canvas canvas(kWidth, kHeight, title);
  double bottom = kHeight - kBottom, right = kWidth - kRight - kLegend;
  double low = reference.error, high = reference.error, least = valueOf(reference), most = valueOf(reference);
  for (const Front &front : fronts)
    for (const Cost &cost : front.points) {
      least = std::min(least, valueOf(cost));
      most = std::max(most, valueOf(cost));
      if (cost.error > 0) {
        low = std::min(low, cost.error);
        high = std::max(high, cost.error);
      }
    }
  Axis errors(low, high, true, kLeft, right), values(least, most, false, bottom, kTop);
  bool isBytes = objective == Objective::Bytes;
  drawValueAxis(canvas, values, right,
                isBytes ? "bytes of a step, all ranks" : "communication ends, seconds");
  for (double error : errors.ticks()) {
    canvas.line(errors.at(error), bottom, errors.at(error), bottom + 5, "stroke=\"#222\"");
    canvas.text(errors.at(error), bottom + 20, "middle", format("%.0e", error));
  }
  canvas.line(kLeft, bottom, right, bottom, "stroke=\"#222\"");
  canvas.text((kLeft + right) / 2, kHeight - 10, "middle", "squared error");
  std::vector<std::string> names;
  for (size_t i = 0; i < fronts.size(); ++i) {
    names.push_back(fronts[i].solver);
    std::vector<std::pair<double, double>> points;
    for (const Cost &cost : fronts[i].points)
      if (errors.shows(cost.error))
        points.emplace_back(errors.at(cost.error), values.at(valueOf(cost)));
    std::sort(points.begin(), points.end());
    // Later lines are thinner, so that fronts that coincide can both be seen.
    double width = 1 + 0.8 * double(fronts.size() - i);
    canvas.polyline(points, "fill=\"none\" opacity=\"0.8\" stroke-width=\"" + format("%.1f", width) +
                                "\" stroke=\"" + plot::color(i) + "\"");
    for (auto [x, y] : points)
      canvas.circle(x, y, 1 + width / 2, "fill=\"" + plot::color(i) + "\"");
  }
  if (errors.shows(reference.error)) {
    canvas.circle(errors.at(reference.error), values.at(valueOf(reference)), 6,
                  "fill=\"none\" stroke=\"#222\" stroke-width=\"2\"");
    canvas.text(kWidth - kLegend, kTop + 14 + 20 * double(fronts.size()), "start", "ring: the reference");
  }
  drawLegend(canvas, names, kWidth - kLegend, kTop + 10);
  return canvas.finish();
}

} // namespace cgx::plan
