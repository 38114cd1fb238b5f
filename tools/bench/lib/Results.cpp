//===-- Results.cpp - Tables and JSON of a benchmark ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Expected.h"
#include "Reference.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace cgx::bench {
namespace {

/// Returns the value below which this share of the sorted values lies.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

double median(const Series &series) { return quantile(series.seconds, 0.5); }

/// Returns the median of `name` at the size, or 0.
double medianOf(const std::vector<Series> &all, uint64_t bytes, const std::string &name) {
  for (const Series &series : all)
    if (series.bytes == bytes && series.variant == name)
      return median(series);
  return 0;
}

std::string sizeText(uint64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit < 3; value /= 1024)
    ++unit;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", value, units[unit]);
  return text;
}

/// Returns the speedup, such as "3.81x"; a dash where there is no reference.
std::string speedup(double reference, double own) {
  if (reference == 0)
    return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", reference / own);
  return text;
}

} // namespace

std::string tableOf(const Options &options, const std::vector<Series> &series) {
  size_t width = 8;
  for (const Series &one : series)
    width = std::max(width, one.variant.size());
  std::vector<std::pair<std::string, std::string>> compared = {{"vs exact", "identity"}}; // column, variant
  for (const std::unique_ptr<Reference> &reference : makeReferences())
    compared.push_back({"vs " + reference->library(), reference->nameOf(options.collective)});
  std::string table;
  char line[512];
  auto add = [&](const std::string &size, const std::string &variant, const char *ms, const char *spread,
                 const char *rate, const char *bus, const char *wrong, auto comparison) {
    std::snprintf(line, sizeof line, "%10s  %-*s  %9s  %13s  %6s  %6s  %6s", size.c_str(),
                  static_cast<int>(width), variant.c_str(), ms, spread, rate, bus, wrong);
    table += line;
    for (const auto &[column, other] : compared) {
      std::snprintf(line, sizeof line, "  %8s", comparison(column, other).c_str());
      table += line;
    }
    table += '\n';
  };
  add("size", "codec", "ms", "quartiles", "GB/s", "bus", "#wrong",
      [](const std::string &column, const std::string &) { return column; });
  for (const Series &one : series) {
    double own = median(one);
    char ms[32], spread[48], rate[32], bus[32];
    std::snprintf(ms, sizeof ms, "%.3f", own * 1e3);
    std::snprintf(spread, sizeof spread, "%.3g-%.3g", quantile(one.seconds, 0.25) * 1e3,
                  quantile(one.seconds, 0.75) * 1e3);
    std::snprintf(rate, sizeof rate, "%.2f", static_cast<double>(one.bytes) / own / 1e9);
    const Expected expected = {options.collective, options.ranks, one.bytes};
    std::snprintf(bus, sizeof bus, "%.2f", expected.busFactor() * static_cast<double>(one.bytes) / own / 1e9);
    add(sizeText(one.bytes), one.variant, ms, spread, rate, bus, std::to_string(one.wrong).c_str(),
        [&](const std::string &, const std::string &other) {
          return speedup(medianOf(series, one.bytes, other), own);
        });
  }
  return table;
}

std::string jsonOf(const Options &options, const std::vector<Series> &series, double roundTrip) {
  nlohmann::json results = nlohmann::json::array();
  for (const Series &one : series)
    results.push_back({{"bytes", one.bytes},
                       {"variant", one.variant},
                       {"wrong", one.wrong},
                       {"median_seconds", median(one)},
                       {"lower_quartile_seconds", quantile(one.seconds, 0.25)},
                       {"upper_quartile_seconds", quantile(one.seconds, 0.75)},
                       {"seconds", one.seconds}});
  nlohmann::json all = {{"cgx_bench", 1},
                        {"collective", options.collective},
                        {"ranks", options.ranks},
                        {"transport", options.transport},
                        {"spin_round_trip_us", roundTrip},
                        {"results", results}};
  return all.dump(1) + "\n";
}

} // namespace cgx::bench
