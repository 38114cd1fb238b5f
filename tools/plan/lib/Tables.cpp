//===-- Tables.cpp - Plans as tables -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "Units.h"
#include "cgx/plan/Codec.h"
#include "cgx/plot/Text.h"

#include <algorithm>

namespace cgx::plan {

using plot::bytesText;
using plot::Column;
using plot::format;

namespace {

/// Returns a / b, and 1 for two zeros.
double ratio(double a, double b) {
  return b > 0 ? a / b : a > 0 ? std::numeric_limits<double>::infinity() : 1;
}

double elementBits(const std::string &dtype) {
  size_t digits = dtype.find_first_of("0123456789");
  return digits == std::string::npos ? 8 : std::stod(dtype.substr(digits));
}

} // namespace

double bitsOf(const PlannedLayer &layer) {
  return elementBits(layer.dtype) * ratio(layer.wireBytes, layer.rawBytes);
}

std::string layerTable(const Plan &plan) {
  std::vector<Column> columns = {{"layer"}, {"elements"}, {"codec"},         {"bits"},
                                 {"wire"},  {"of bytes"}, {"squared error"}, {"of error"}};
  for (const PlannedLayer &layer : plan.layers) {
    columns[0].push_back(layer.layer);
    columns[1].push_back(std::to_string(layer.elements));
    columns[2].push_back(shortCodecLabel(layer.codec));
    columns[3].push_back(format("%.2f", bitsOf(layer)));
    columns[4].push_back(bytesText(layer.wireBytes));
    columns[5].push_back(format("%.1f %%", 100 * ratio(layer.wireBytes, plan.planned.bytes)));
    columns[6].push_back(format("%.3g", layer.squaredError));
    columns[7].push_back(
        plan.planned.error > 0 ? format("%.1f %%", 100 * layer.squaredError / plan.planned.error) : "");
  }
  return plot::makeMarkdown(std::move(columns));
}

std::string summary(const Plan &plan) {
  double raw = 0;
  for (const PlannedLayer &layer : plan.layers)
    raw += layer.rawBytes;
  const Cost &planned = plan.planned, &reference = plan.ofReference;
  return plan.solver + ": " + bytesText(planned.bytes) + " leave all ranks in a step, " +
         format("%.2f", ratio(reference.bytes, planned.bytes)) + "x fewer than with " +
         shortCodecLabel(plan.reference) + ", " + format("%.2f", ratio(raw, planned.bytes)) +
         "x fewer than uncompressed\nsquared error " + format("%.6g", planned.error) + ", " +
         format("%.4f", ratio(planned.error, reference.error)) + " of the reference's" +
         (plan.proven ? "\nproven: nothing within the bounds has less " + plan.objective : "") + "\n";
}

std::string attemptTable(const Problem &problem, const std::vector<Attempt> &attempts) {
  std::vector<Column> columns = {
      {"solver"},         {"wire/step"},          {"fewer bytes"}, {"squared error"},
      {"of reference's"}, {"communication ends"}, {"solved in"},   {"note"}};
  for (const Attempt &attempt : attempts) {
    columns[0].push_back(attempt.solver->name);
    bool solved = attempt.failure.empty();
    columns[1].push_back(solved ? bytesText(attempt.cost.bytes) : "");
    columns[2].push_back(solved ? format("%.2fx", ratio(problem.reference.bytes, attempt.cost.bytes)) : "");
    columns[3].push_back(solved ? format("%.4g", attempt.cost.error) : "");
    columns[4].push_back(solved ? format("%.4f", ratio(attempt.cost.error, problem.reference.error)) : "");
    columns[5].push_back(solved ? durationText(attempt.cost.seconds) : "");
    columns[6].push_back(solved ? durationText(attempt.solveSeconds) : "");
    columns[7].push_back(!solved                    ? "nothing within the bounds"
                         : attempt.solution.proven  ? "proven optimal"
                         : !attempt.solver->bounded ? "has its own bound of the error"
                                                    : "");
  }
  return plot::makeMarkdown(std::move(columns));
}

} // namespace cgx::plan
