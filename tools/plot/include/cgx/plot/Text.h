//===-- cgx/plot/Text.h - Formatting numbers and tables ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PLOT_TEXT_H
#define CGX_PLOT_TEXT_H

#include <string>
#include <vector>

namespace cgx::plot {

/// Formats one number by a pattern of printf.
std::string format(const char *pattern, double value);

/// Formats a number of bytes: `1.2 MB`.
std::string bytesText(double bytes);

/// The cells of a column from top to bottom, the head first.
using Column = std::vector<std::string>;

/// Returns a Markdown table, padded so that it reads well as plain text. Columns whose cells below the head
/// are all empty are left out. The first column is aligned left.
std::string makeMarkdown(std::vector<Column> columns);

} // namespace cgx::plot

#endif // CGX_PLOT_TEXT_H
