//===-- Metrics.cpp - Metrics of a run, step by step ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Metrics.h"

#include "cgx/formats/SystemError.h"

#include "cgx/output/OutputFile.h"
#include "cgx/run/Error.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace cgx::run;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> namesOf(const Scalars &scalars) {
  std::vector<std::string> names;
  for (const Scalars::Scalar &scalar : scalars.all)
    names.push_back(scalar.name);
  return names;
}

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace

Metrics::Metrics(const Job &job, cgx_context *context)
    : job_(job), context_(context), format_(makeMetricsFormat(job.metrics, namesOf(job.scalars))),
      last_(Clock::now()) {
  std::error_code none;
  if (cgx::isStandardOutput(job.metrics)) {
    file_.reset(::fdopen(::dup(STDOUT_FILENO), "a"));
  } else {
    if (!fs::exists(job.metrics, none) || fs::is_regular_file(job.metrics, none)) {
      // An earlier run may have recorded more steps than it saved.
      const std::string kept =
          job.firstStep == 0 ? "" : format_->earlier(contentsOf(job.metrics), job.firstStep);
      if (std::string error = cgx::writeOutput(job.metrics, format_->header() + kept); !error.empty())
        throw Error(error);
    }
    file_.reset(std::fopen(job.metrics.c_str(), "ae"));
  }
  if (!file_)
    throw Error("cannot write '" + job.metrics + "': " + cgx::formats::systemErrorText(errno));
  if (!fs::is_regular_file(job.metrics, none))
    write(format_->header());
  before_ = measure();
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

void Metrics::step(uint64_t step, const std::vector<double> &scalars, size_t plans) {
  const Clock::time_point end = Clock::now();
  const Totals totals = measure();
  const double seconds = std::chrono::duration<double>(end - last_).count();
  const double communication = totals.seconds - before_.seconds;
  write(format_->record({.step = step,
                         .time = now(),
                         .seconds = seconds,
                         .scalars = scalars,
                         .wireBytes = totals.wireBytes - before_.wireBytes,
                         .communicationSeconds = communication,
                         .communicationShare = seconds > 0 ? std::min(1.0, communication / seconds) : 0,
                         .isPlanNew = plans != plans_}));
  before_ = totals;
  plans_ = plans;
  last_ = end;
}

void Metrics::evaluation(uint64_t step, const std::vector<double> &values) {
  write(format_->evaluation(step, now(), namesOf(job_.evaluation->scalars), values));
  last_ = Clock::now();
}

/// A write error does not end the training, which may have run for days.
void Metrics::write(const std::string &record) {
  if (isBroken_)
    return;
  const std::string error = cgx::appendOutput(::fileno(file_.get()), job_.metrics, record);
  if (error.empty())
    return;
  isBroken_ = true;
  std::fprintf(stderr, "cgx-run: warning: %s; the training goes on, and leaves out metrics from here on\n",
               error.c_str());
}
