//===-- Stepper.h - A program with its arguments, on one rank ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_STEPPER_H
#define CGX_RUN_LIB_STEPPER_H

#include "cgx/run/Arena.h"
#include "cgx/run/Batches.h"
#include "cgx/run/Job.h"

namespace cgx::run {

/// Holds the buffers of a step's arguments and results, fills and runs it.
class Stepper {
public:
  /// Fills what does not change from step to step.
  Stepper(const Job &job, uint32_t rank);

  /// Joins the ranks of the job of that name. Throws Error.
  void connect(const std::string &name);

  /// Fills what changes and runs the step. Throws Error.
  void run(uint64_t step);

  /// Results become the next step's arguments by changing places with them.
  void feed();

  /// Of the last step, in the order of the job's scalars.
  std::vector<double> scalars() const;

  std::span<std::byte> block(size_t argument) {
    return {arguments_[argument], job_.manifest.arguments[argument].bytes()};
  }
  std::span<const std::byte> block(size_t argument) const {
    return {arguments_[argument], job_.manifest.arguments[argument].bytes()};
  }
  cgx_context *context() const { return context_.get(); }

  /// Throws the runtime's last message.
  static void check(cgx_status status);

private:
  struct ContextDeleter {
    void operator()(cgx_context *context) const { cgx_context_destroy(context); }
  };

  void useGpu() const;
  void fillOnce(size_t argument);
  void fillForStep(uint64_t step);

  const Job &job_;
  uint32_t rank_;
  Arena arena_;
  Sampler sampler_;
  std::vector<std::byte *> arguments_, results_;
  std::unique_ptr<cgx_context, ContextDeleter> context_;
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_STEPPER_H
