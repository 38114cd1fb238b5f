//===-- Progress.cpp - Printed progress of a run ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "cgx/run/Report.h"
#include "cgx/runtime.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace cgx::run;

std::chrono::seconds cgx::run::pauseBetweenLines(std::chrono::seconds age, bool isTerminal) {
  using namespace std::chrono_literals;
  if (isTerminal || age < 10s)
    return 1s;
  return age < 10min ? 10s : std::chrono::seconds(1min);
}

std::string cgx::run::durationString(uint64_t seconds) {
  const uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  char text[64];
  if (days > 0)
    std::snprintf(text, sizeof text, "%llud %02llu:%02llu", number(days), number(hours % 24),
                  number(minutes % 60));
  else if (hours > 0)
    std::snprintf(text, sizeof text, "%llu:%02llu:%02llu", number(hours), number(minutes % 60),
                  number(seconds % 60));
  else
    std::snprintf(text, sizeof text, "%llu:%02llu", number(minutes), number(seconds % 60));
  return text;
}

std::string cgx::run::savedString(uint64_t raw, uint64_t wire) {
  if (wire >= raw)
    return "";
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, " (%.3gx)",
                static_cast<double>(raw) / static_cast<double>(std::max<uint64_t>(wire, 1)));
  return bytesString(static_cast<double>(raw - wire)) + " saved" + ratio;
}

Progress::Progress(const Job &job, cgx_context *context)
    : job_(job), context_(context), isTerminal_(::isatty(STDERR_FILENO) == 1), start_(Clock::now()),
      last_(start_) {}

bool Progress::isDue(uint64_t done) const {
  if (!job_.showsProgress)
    return false;
  if (done == job_.steps)
    return true;
  if (job_.logEvery != 0)
    return done % job_.logEvery == 0;
  const Clock::time_point now = Clock::now();
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - start_);
  return done == 1 || now - last_ >= pauseBetweenLines(age, isTerminal_);
}

std::string Progress::saved() const {
  const char *telemetry = nullptr;
  if (cgx_context_telemetry(context_, &telemetry) != CGX_OK)
    return ""; // the next collective reports the error
  const nlohmann::json json = nlohmann::json::parse(telemetry);
  return savedString(json.at("raw_bytes").get<uint64_t>(), json.at("wire_bytes").get<uint64_t>());
}

void Progress::warnOfNotFinite(uint64_t done, const std::vector<double> &scalars) {
  if (warned_ || !job_.scalars.loss || std::isfinite(scalars[*job_.scalars.loss]))
    return;
  warned_ = true;
  std::fprintf(stderr,
               "cgx-run: warning: %s is %g at step %llu; --stop-on-nan ends the run there (said once)\n",
               job_.scalars.all[*job_.scalars.loss].name.c_str(), scalars[*job_.scalars.loss],
               static_cast<unsigned long long>(job_.firstStep + done - 1));
}

void Progress::step(uint64_t done, const std::vector<double> &scalars) {
  warnOfNotFinite(done, scalars);
  if (!isDue(done))
    return;
  last_ = Clock::now();
  double seconds = std::chrono::duration<double>(last_ - start_).count();
  double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string line;
  char field[160];
  for (size_t i = 0; i < scalars.size(); ++i) {
    std::snprintf(field, sizeof field, "  %s %.6g", job_.scalars.all[i].name.c_str(), scalars[i]);
    line += field;
  }
  std::snprintf(field, sizeof field, "  %.4g steps/s", rate);
  line += field;
  if (done != job_.steps) {
    const double left = rate > 0 ? static_cast<double>(job_.steps - done) / rate + 0.5 : 0;
    line += "  " + durationString(static_cast<uint64_t>(std::min(left, 1e15))) + " left";
  }
  if (const std::string bytes = saved(); !bytes.empty())
    line += "  " + bytes;
  std::fprintf(stderr, "cgx-run: %llu/%llu%s\n", static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(job_.steps), line.c_str());
}

void Progress::evaluation(const Job &job, const Measured &measured) {
  std::string line;
  char field[160];
  for (size_t i = 0; i < measured.values.size(); ++i) {
    std::snprintf(field, sizeof field, "  %s %.6g", job.evaluation->scalars.all[i].name.c_str(),
                  measured.values[i]);
    line += field;
  }
  std::fprintf(stderr, "cgx-run: evaluation after %llu/%llu%s\n",
               static_cast<unsigned long long>(measured.steps), static_cast<unsigned long long>(job.steps),
               line.c_str());
}
