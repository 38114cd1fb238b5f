//===-- StepRuns.h - How often an operation runs in a step ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_STEPRUNS_H
#define CGX_PASSES_STEPRUNS_H

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace cgx {

/// The value of a constant integer of rank 0.
std::optional<int64_t> getConstantInteger(mlir::Value value);

/// A loop that counts from a constant to a constant in steps of one, as scans do.
struct CountedLoop {
  unsigned counter = 0; ///< the number of the carried value that counts
  int64_t begin = 0;    ///< its first value
  uint64_t trips = 0;
};
std::optional<CountedLoop> getCountedLoop(stablehlo::WhileOp loop);

/// How often an operation runs in one step: the product of the lengths of the loops around it. Nothing where
/// the step decides that while it runs: a loop that does not count to a constant, a branch. Of one that is
/// taken every so many steps, in such a step.
std::optional<uint64_t> getRunsPerStep(mlir::Operation *op);

/// Every how many steps that happens: 1, but for what runs in a branch that is taken every so many
/// (`cgx.every`).
uint64_t getStepsPerRun(mlir::Operation *op);

/// In which of these steps, from 1 (`cgx.turn`).
uint64_t getTurn(mlir::Operation *op);

} // namespace cgx

#endif // CGX_PASSES_STEPRUNS_H
