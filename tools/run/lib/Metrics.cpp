//===-- Metrics.cpp - What a run measures, as it happens --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Metrics.h"

#include "cgx/output/OutputFile.h"
#include "cgx/run/Error.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace cgx::run;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

/// The step of a line that an earlier run wrote.
std::optional<uint64_t> stepOf(const std::string &line, bool isCsv) {
  uint64_t step = 0;
  if (isCsv)
    return std::from_chars(line.data(), line.data() + line.size(), step).ec == std::errc()
               ? std::optional(step)
               : std::nullopt;
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_unsigned())
    return std::nullopt;
  return json["step"].get<uint64_t>();
}

/// What an earlier run wrote of the steps before `first`: it may have done more of them than it saved.
std::string earlierLines(const std::string &path, uint64_t first, bool isCsv) {
  std::ifstream file(path);
  std::string kept;
  for (std::string line; std::getline(file, line);)
    if (std::optional<uint64_t> step = stepOf(line, isCsv); step && *step < first)
      kept += line + "\n";
  return kept;
}

/// As in a report: shortest digits that give the number back.
std::string numberText(double value) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}

/// A column's name, quoted where CSV needs it.
std::string quoted(const std::string &name) {
  if (name.find_first_of(",\"\n") == std::string::npos)
    return name;
  std::string text = "\"";
  for (char c : name)
    text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

} // namespace

Metrics::Metrics(const Job &job, cgx_context *context)
    : job_(job), context_(context), isCsv_(job.metrics.ends_with(".csv")), last_(Clock::now()) {
  std::error_code none;
  if (cgx::isStandardOutput(job.metrics)) {
    file_.reset(::fdopen(::dup(STDOUT_FILENO), "a"));
  } else {
    if (!fs::exists(job.metrics, none) || fs::is_regular_file(job.metrics, none)) {
      const std::string kept = job.firstStep == 0 ? "" : earlierLines(job.metrics, job.firstStep, isCsv_);
      if (std::string error = cgx::writeOutput(job.metrics, header() + kept); !error.empty())
        throw Error(error);
    }
    file_.reset(std::fopen(job.metrics.c_str(), "ae"));
  }
  if (!file_)
    throw Error("cannot write '" + job.metrics + "': " + std::strerror(errno));
  if (isCsv_ && !fs::is_regular_file(job.metrics, none))
    write(header());
  before_ = measure();
}

std::string Metrics::header() const {
  if (!isCsv_)
    return "";
  std::string text = "step,time,seconds";
  for (const Scalars::Scalar &scalar : job_.scalars.all)
    text += "," + quoted(scalar.name);
  return text + ",wire_bytes,communication_seconds,communication_share,plan\n";
}

Metrics::Totals Metrics::measure() const {
  const char *telemetry = nullptr;
  if (cgx_status status = cgx_context_telemetry(context_, &telemetry); status != CGX_OK)
    throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
  const Json json = Json::parse(telemetry);
  Totals totals;
  totals.wireBytes = json.at("wire_bytes").get<uint64_t>();
  for (const Json &collective : json.at("collectives"))
    totals.seconds += collective.at("seconds").at("total").get<double>();
  return totals;
}

std::string Metrics::line(uint64_t step, const std::vector<double> &scalars, double seconds,
                          const Totals &own, bool isPlanNew) const {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const double share = seconds > 0 ? std::min(1.0, own.seconds / seconds) : 0;
  if (isCsv_) {
    std::string text = std::to_string(step) + "," + numberText(now) + "," + numberText(seconds);
    for (double scalar : scalars)
      text += "," + numberText(scalar);
    return text + "," + std::to_string(own.wireBytes) + "," + numberText(own.seconds) + "," +
           numberText(share) + "," + (isPlanNew ? "1" : "0") + "\n";
  }
  Json json = {{"step", step}, {"time", now}, {"seconds", seconds}, {"metrics", Json::object()}};
  for (size_t i = 0; i < scalars.size(); ++i)
    json["metrics"][job_.scalars.all[i].name] = scalars[i]; // null where it is not finite
  json["wire_bytes"] = own.wireBytes;
  json["communication_seconds"] = own.seconds;
  json["communication_share"] = share;
  json["plan"] = isPlanNew;
  return json.dump() + "\n";
}

void Metrics::step(uint64_t step, const std::vector<double> &scalars, size_t plans) {
  const Clock::time_point now = Clock::now();
  const Totals totals = measure();
  write(line(step, scalars, std::chrono::duration<double>(now - last_).count(),
             {totals.wireBytes - before_.wireBytes, totals.seconds - before_.seconds}, plans != plans_));
  before_ = totals;
  plans_ = plans;
  last_ = now;
}

void Metrics::evaluation(uint64_t step, const std::vector<double> &values) {
  Json json = {{"step", step}, {"evaluation", Json::object()}};
  for (size_t i = 0; i < values.size(); ++i)
    json["evaluation"][job_.evaluation->scalars.all[i].name] = values[i];
  if (!isCsv_) // whose columns are those of steps
    write(json.dump() + "\n");
  last_ = Clock::now();
}

void Metrics::write(const std::string &text) {
  if (std::fputs(text.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
    throw Error("cannot write '" + job_.metrics + "': " + std::strerror(errno));
}
