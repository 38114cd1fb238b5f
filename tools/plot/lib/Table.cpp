//===-- Table.cpp - Runs side by side, as text -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace cgx::plot;

namespace {

using Column = std::vector<std::string>;

std::string format(const char *pattern, double value) {
  char text[48];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string bytes(double value) {
  const char *units[] = {"B", "kB", "MB", "GB"};
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  return format(unit == 0 ? "%.0f " : "%.1f ", value) + units[unit];
}

/// Characters, not bytes: labels may be in any language.
size_t width(const std::string &text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad(const std::string &text, size_t to, bool left) {
  std::string blanks(to - std::min(to, width(text)), ' ');
  return left ? text + blanks : blanks + text;
}

std::vector<Column> makeColumns(const std::vector<Run> &runs) {
  std::vector<Column> columns = {{"run"},       {"training loss"}, {"validation loss"},
                                 {"accuracy"},  {"perplexity"},    {"raw/step"},
                                 {"wire/step"}, {"ratio"},         {"steps/s"}};
  for (const Run &run : runs) {
    // The loss of one step is noise; the last tenth of the run is not.
    size_t steps = run.loss.size(), last = std::max<size_t>(steps / 10, 1);
    columns[0].push_back(run.label);
    columns[1].push_back(run.loss.empty() ? "" : format("%.4f", meanOf(run.loss, steps - last, steps)));
    columns[2].push_back(run.validationLoss ? format("%.4f", *run.validationLoss) : "");
    columns[3].push_back(run.validationAccuracy ? format("%.2f %%", 100 * *run.validationAccuracy) : "");
    columns[4].push_back(run.validationLoss ? format("%.3f", std::exp(*run.validationLoss)) : "");
    columns[5].push_back(bytes(run.rawBytes));
    columns[6].push_back(bytes(run.wireBytes));
    columns[7].push_back(run.wireBytes > 0 ? format("%.2f", run.rawBytes / run.wireBytes) : "");
    columns[8].push_back(format("%.3g", run.stepsPerSecond));
  }
  std::erase_if(columns, [](const Column &column) {
    return std::all_of(column.begin() + 1, column.end(),
                       [](const std::string &cell) { return cell.empty(); });
  });
  return columns;
}

} // namespace

std::string cgx::plot::makeTable(const std::vector<Run> &runs) {
  std::vector<Column> columns = makeColumns(runs);
  std::string table;
  for (size_t row = 0; row <= runs.size(); ++row) {
    std::string rule = "|";
    table += "|";
    for (size_t i = 0; i < columns.size(); ++i) {
      size_t widest = 0;
      for (const std::string &cell : columns[i])
        widest = std::max(widest, width(cell));
      bool left = i == 0;
      table += " " + pad(columns[i][row], widest, left) + " |";
      rule += left ? ":" + std::string(widest + 1, '-') + "|" : std::string(widest + 1, '-') + ":|";
    }
    table += "\n" + (row == 0 ? rule + "\n" : "");
  }
  return table;
}
