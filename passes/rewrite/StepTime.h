//===-- StepTime.h - Seconds of a step by the cost model --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_STEPTIME_H
#define CGX_PASSES_REWRITE_STEPTIME_H

#include "cgx/layers/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cgx {

/// Returns the seconds that a rank takes for a step. Ops compute one after the other, started collectives
/// travel beside them, one at a time, and a wait ends when its collective completes. Where a rank has no core
/// to spare, encoding and adding up take turns with the ops. Matrix products and convolutions cost their
/// operations, all other ops the bytes of their results; so the estimate compares two orders of the same
/// step, and is no forecast of one.
///
/// The machine file must have the cost of computing (`layers::Machine::saysComputing`).
double getStepSeconds(mlir::func::FuncOp step, const layers::Machine &machine);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_STEPTIME_H
