//===-- Units.cpp - Parsing bandwidths and times ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Units.h"

#include "cgx/plan/Error.h"
#include "cgx/plot/Text.h"

#include <cmath>
#include <vector>

namespace cgx::plan {

namespace {

struct Unit {
  const char *name;
  double factor;
};

double parse(const std::string &text, const std::vector<Unit> &units, const char *what) {
  size_t end = 0;
  double number = NAN;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception &) {
    end = text.size();
  }
  std::string unit = text.substr(
      text.find_first_not_of(' ', end) == std::string::npos ? text.size() : text.find_first_not_of(' ', end));
  std::string known;
  for (const Unit &entry : units) {
    if (unit == entry.name && number > 0 && std::isfinite(number))
      return number * entry.factor;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error(std::string("expected ") + what + " above 0 in " + known + ", got '" + text + "'");
}

} // namespace

double parseBandwidth(const std::string &text) {
  return parse(text, {{"kbit", 1e3 / 8}, {"Mbit", 1e6 / 8}, {"Gbit", 1e9 / 8}}, "a bandwidth");
}

double parseDuration(const std::string &text) {
  return parse(text, {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}, "a time");
}

std::string durationText(double seconds) {
  if (seconds >= 1)
    return plot::format("%.3g s", seconds);
  return seconds >= 1e-3 ? plot::format("%.3g ms", seconds * 1e3) : plot::format("%.3g us", seconds * 1e6);
}

} // namespace cgx::plan
