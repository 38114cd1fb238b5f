//===-- Evaluation.cpp - Evaluation of a state on other samples -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "cgx/run/Checkpoints.h"

#include <algorithm>

using namespace cgx::run;

bool cgx::run::isEvaluated(const Job &job, uint64_t done) {
  if (!job.evaluation || done == 0)
    return false;
  // Every checkpoint needs the metric that checkpoints are compared by.
  return done == job.steps || (isSaved(job, done) && job.saving.best.starts_with("eval.")) ||
         (job.evaluateEvery != 0 && (job.firstStep + done) % job.evaluateEvery == 0);
}

std::vector<double> Evaluation::run(const Stepper &training) {
  for (const auto &[from, to] : training_.evaluated) {
    const std::span<const std::byte> value = training.block(from);
    std::copy(value.begin(), value.end(), stepper_.overwrittenBlock(to).begin());
  }
  std::vector<double> means(job_.scalars.all.size());
  for (uint64_t step = 0; step < job_.steps; ++step) {
    stepper_.run(step);
    const std::vector<double> values = stepper_.scalars();
    for (size_t i = 0; i < values.size(); ++i)
      means[i] += values[i] / static_cast<double>(job_.steps);
  }
  return means;
}
