//===-- Text.cpp - Formatting numbers and tables ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/plot/Text.h"

#include <algorithm>
#include <cstdio>

using namespace cgx::plot;

std::string cgx::plot::format(const char *pattern, double value) {
  char text[48];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string cgx::plot::bytesText(double value) {
  const char *units[] = {"B", "kB", "MB", "GB"};
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  return format(unit == 0 ? "%.0f " : "%.1f ", value) + units[unit];
}

namespace {

/// The width counts characters, not bytes, because labels may be in any language.
size_t width(const std::string &text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad(const std::string &text, size_t to, bool left) {
  std::string blanks(to - std::min(to, width(text)), ' ');
  return left ? text + blanks : blanks + text;
}

} // namespace

std::string cgx::plot::makeMarkdown(std::vector<Column> columns) {
  std::erase_if(columns, [](const Column &column) {
    return std::all_of(column.begin() + 1, column.end(),
                       [](const std::string &cell) { return cell.empty(); });
  });
  std::string table;
  for (size_t row = 0; !columns.empty() && row < columns[0].size(); ++row) {
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
