//===-- cgx/plot/Text.h - Numbers and tables as people read them -*- C++ -*-===//
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

/// One number by a pattern of printf.
std::string format(const char *pattern, double value);

/// `1.2 MB`.
std::string bytesText(double bytes);

/// Cells from top to bottom, the head first.
using Column = std::vector<std::string>;

/// A Markdown table, padded so that it reads well as it is. Columns of which all cells under
/// the head are empty are left out; the first is aligned left.
std::string makeMarkdown(std::vector<Column> columns);

} // namespace cgx::plot

#endif // CGX_PLOT_TEXT_H
