//===-- Table.cpp - Table of runs -------------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"

#include "cgx/plot/Text.h"

#include <algorithm>
#include <cmath>

using namespace cgx::plot;

namespace {

std::vector<Column> makeColumns(const std::vector<Run> &runs) {
  std::vector<Column> columns = {{"run"},       {"training loss"}, {"validation loss"},
                                 {"accuracy"},  {"perplexity"},    {"raw/step"},
                                 {"wire/step"}, {"ratio"},         {"steps/s"}};
  for (const Run &run : runs) {
    // The mean of the last tenth is used, because the loss of one step is too noisy.
    size_t steps = run.loss.size(), last = std::max<size_t>(steps / 10, 1);
    columns[0].push_back(run.label);
    columns[1].push_back(run.loss.empty() ? "" : format("%.4f", meanOf(run.loss, steps - last, steps)));
    columns[2].push_back(run.validationLoss ? format("%.4f", *run.validationLoss) : "");
    columns[3].push_back(run.validationAccuracy ? format("%.2f %%", 100 * *run.validationAccuracy) : "");
    columns[4].push_back(run.validationLoss ? format("%.3f", std::exp(*run.validationLoss)) : "");
    columns[5].push_back(bytesText(run.rawBytes));
    columns[6].push_back(bytesText(run.wireBytes));
    columns[7].push_back(run.wireBytes > 0 ? format("%.2f", run.rawBytes / run.wireBytes) : "");
    columns[8].push_back(format(run.stepsPerSecond < 100 ? "%.3g" : "%.0f", run.stepsPerSecond));
  }
  return columns;
}

} // namespace

std::string cgx::plot::makeTable(const std::vector<Run> &runs) { return makeMarkdown(makeColumns(runs)); }
