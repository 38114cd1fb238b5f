//===-- Evaluation.h - Evaluation of a state on other samples ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_EVALUATION_H
#define CGX_RUN_LIB_EVALUATION_H

#include "Stepper.h"

namespace cgx::run {

/// Returns true if the state after `done` steps is evaluated.
bool isEvaluated(const Job &job, uint64_t done);

/// The evaluation of a training, on one rank. It has a connection of its own, so that it adds nothing to the
/// traffic that the training counts and promises.
class Evaluation {
public:
  Evaluation(const Job &training, uint32_t rank)
      : training_(training), job_(*training.evaluation), stepper_(job_, rank) {}

  void connect() { stepper_.connect(training_.name + ".eval"); }

  /// Returns the mean of each scalar over all batches. Throws Error.
  std::vector<double> run(const Stepper &training);

private:
  const Job &training_;
  const Job &job_;
  Stepper stepper_;
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_EVALUATION_H
