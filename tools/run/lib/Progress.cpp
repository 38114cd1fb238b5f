//===-- Progress.cpp - Lines for who waits ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include <cmath>
#include <cstdio>

using namespace cgx::run;

Progress::Progress(const Job &job) : job_(job), start_(Clock::now()), last_(start_) {}

bool Progress::isDue(uint64_t done) const {
  if (!job_.showsProgress)
    return false;
  if (done == job_.steps)
    return true;
  if (job_.logEvery != 0)
    return done % job_.logEvery == 0;
  return done == 1 || Clock::now() - last_ >= std::chrono::seconds(1);
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
  auto left = static_cast<unsigned long>(rate > 0 ? static_cast<double>(job_.steps - done) / rate + 0.5 : 0);
  std::snprintf(field, sizeof field, "  %.4g steps/s", rate);
  line += field;
  if (done != job_.steps) {
    std::snprintf(field, sizeof field, "  %lu:%02lu left", left / 60, left % 60);
    line += field;
  }
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
