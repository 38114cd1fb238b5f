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

/// Returns the value of a constant integer of rank 0.
std::optional<int64_t> getConstantInteger(mlir::Value value);

/// A loop that counts from a constant to a constant in steps of one, as scans do.
struct CountedLoop {
  unsigned counter = 0; ///< the number of the carried value that counts
  int64_t begin = 0;    ///< its first value
  uint64_t trips = 0;
};
std::optional<CountedLoop> getCountedLoop(stablehlo::WhileOp loop);

/// Returns how often an operation runs in one step: the product of the lengths of the loops around it.
/// Returns nothing if that is known only at run time, as for a loop that does not count to a constant, or a
/// branch. For an op in a branch that is taken every so many steps, it counts the runs in such a step.
std::optional<uint64_t> getRunsPerStep(mlir::Operation *op);

/// Returns every how many steps the op runs: 1, except in a branch that is taken every so many (`cgx.every`).
uint64_t getStepsPerRun(mlir::Operation *op);

/// Returns in which of these steps the op runs, from 1 (`cgx.turn`).
uint64_t getTurn(mlir::Operation *op);

} // namespace cgx

#endif // CGX_PASSES_STEPRUNS_H
