//===-- Stepper.h - A program with its arguments, on one rank ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_STEPPER_H
#define CGX_RUN_LIB_STEPPER_H

#include "BoundStep.h"
#include "cgx/run/Batches.h"
#include "cgx/run/Job.h"

namespace cgx::run {

/// Fills the arguments of a step and runs it.
class Stepper {
public:
  /// Fills what does not change from step to step.
  Stepper(const Job &job, uint32_t rank);

  /// Joins the ranks of the job of that name. Throws Error.
  void connect(const std::string &name);

  /// Fills what changes and runs the step. Throws Error.
  void run(uint64_t step);

  /// Results become the next step's arguments by changing places with them.
  void feed() { step_->feed(); }

  /// Returns the scalars of the last step, in the order of the job's scalars.
  std::vector<double> scalars() const;

  /// Returns an argument as it is between two steps.
  std::span<const std::byte> block(size_t argument) const {
    return {step_->readArgument(argument), job_.manifest.arguments[argument].bytes()};
  }
  /// Returns where an argument is written anew as a whole.
  std::span<std::byte> overwrittenBlock(size_t argument) {
    return {step_->overwriteArgument(argument), job_.manifest.arguments[argument].bytes()};
  }
  cgx_context *context() const { return step_->context(); }

  /// Throws the runtime's last message.
  static void check(cgx_status status);

private:
  void useGpu() const;
  void fillOnce(size_t argument);
  void fillForStep(uint64_t step);

  const Job &job_;
  uint32_t rank_;
  Sampler sampler_;
  std::unique_ptr<BoundStep> step_;
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_STEPPER_H
