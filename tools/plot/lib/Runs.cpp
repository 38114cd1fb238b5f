//===-- Runs.cpp - Reports of cgx-run ---------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runs.h"

#include "cgx/formats/Json.h"
#include "cgx/formats/TextFile.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

using namespace cgx::plot;
using Json = nlohmann::json;

namespace {

/// The largest report that is read; a report has a number per step.
constexpr size_t kMostBytes = size_t{1} << 30;

/// Returns a number, or NaN for null.
double number(const Json &value) { return value.is_null() ? std::nan("") : value.get<double>(); }

Json readReport(const std::string &path) {
  std::string text;
  if (std::string wrong = cgx::formats::readTextFile(path, text, kMostBytes); !wrong.empty())
    throw std::runtime_error("cannot read '" + path + "': " + wrong);
  Json report;
  try {
    report = cgx::formats::parseJson(text, {.bytes = kMostBytes});
    if (report.at("cgx_run_report").get<int>() == 1)
      return report;
  } catch (const cgx::formats::Error &error) {
    throw std::runtime_error("'" + path + "' is not a report of cgx-run: " + error.what());
  } catch (const Json::exception &error) {
    throw std::runtime_error("'" + path + "' is not a report of cgx-run: " + error.what());
  }
  throw std::runtime_error("'" + path + "' is a report of version " + report["cgx_run_report"].dump() +
                           ", expected 1");
}

void readTraining(const Json &report, Run &run) {
  if (report.at("loss").is_object())
    for (const Json &value : report["loss"].at("per_step"))
      run.loss.push_back(number(value));
  run.stepsPerSecond = report.at("steps_per_second").get<double>();
  run.rawBytes = report.at("totals").at("raw_bytes_per_rank_and_step").get<double>();
  run.wireBytes = report["totals"].at("wire_bytes_per_rank_and_step").get<double>();
}

void readEvaluation(const Json &report, Run &run) {
  if (report.at("loss").is_object())
    run.validationLoss = number(report["loss"].at("mean"));
  for (const Json &metric : report.at("metrics"))
    if (metric.at("name").get<std::string>().find("accuracy") != std::string::npos)
      run.validationAccuracy = number(metric.at("mean"));
}

} // namespace

Run cgx::plot::readRun(const std::string &text) {
  size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
    throw std::runtime_error("expected LABEL=train.json[,eval.json], got '" + text + "'");
  size_t comma = text.find(',', sign);
  std::string training = text.substr(sign + 1, comma == std::string::npos ? comma : comma - sign - 1);
  Run run;
  run.label = text.substr(0, sign);
  try {
    readTraining(readReport(training), run);
    if (comma != std::string::npos)
      readEvaluation(readReport(text.substr(comma + 1)), run);
  } catch (const Json::exception &error) {
    throw std::runtime_error("a report of '" + text + "' is malformed: " + error.what());
  }
  return run;
}

double cgx::plot::meanOf(const std::vector<double> &values, size_t begin, size_t end) {
  double sum = 0;
  size_t count = 0;
  for (size_t i = begin; i < end; ++i)
    if (std::isfinite(values[i])) {
      sum += values[i];
      ++count;
    }
  return count == 0 ? std::nan("") : sum / static_cast<double>(count);
}

std::vector<double> cgx::plot::smooth(const std::vector<double> &values, size_t width) {
  std::vector<double> means;
  for (size_t i = 0; i < values.size(); ++i) {
    size_t reach = std::min({i, values.size() - 1 - i, width / 2});
    means.push_back(std::isfinite(values[i]) ? meanOf(values, i - reach, i + reach + 1) : values[i]);
  }
  return means;
}
