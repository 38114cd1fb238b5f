//===-- Table.h - Table of runs ---------------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PLOT_TABLE_H
#define CGX_PLOT_TABLE_H

#include "Runs.h"

namespace cgx::plot {

/// Returns a Markdown table with a row per run. Columns that no run fills are left out.
std::string makeTable(const std::vector<Run> &runs);

} // namespace cgx::plot

#endif // CGX_PLOT_TABLE_H
