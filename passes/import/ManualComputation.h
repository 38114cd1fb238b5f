//===-- ManualComputation.h - the program of one rank out of shard_map's -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_MANUALCOMPUTATION_H
#define CGX_PASSES_IMPORT_MANUALCOMPUTATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cgx {

/// Inlines the manual computations of `step` and gives it the per-rank form.
mlir::LogicalResult inlineManualComputations(mlir::func::FuncOp step);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_MANUALCOMPUTATION_H
