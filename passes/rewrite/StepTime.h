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

/// How long a rank takes for a step: ops compute one after the other, a collective that was started travels
/// beside them, one at a time, and a wait ends when it is there. Where a rank has no core to spare, what a
/// collective encodes and adds up takes its turn among the ops. Of ops it knows the products of matrices and
/// convolutions by their operations, and all others by the bytes that they make; so it is good to compare two
/// orders of the same step, and no forecast of one.
///
/// The machine file must say what computing takes (`layers::Machine::saysComputing`).
double getStepSeconds(mlir::func::FuncOp step, const layers::Machine &machine);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_STEPTIME_H
