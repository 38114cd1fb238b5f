//===-- RegionFlow.h - how values pass through regions ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops, branches and manual computations tell by `RegionBranchOpInterface` which values go where. The
// queries that passes need are answered here, so that no pass depends on a kind of loop.
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REGIONFLOW_H
#define CGX_PASSES_REGIONFLOW_H

#include "mlir/IR/Operation.h"

namespace cgx {

/// Values that an op with regions passes on together: from the op to the arguments of a region, or from the
/// end of a region to the arguments of the next one or to the results.
struct RegionEdge {
  llvm::SmallVector<mlir::Value> from;
  llvm::SmallVector<mlir::Value> to;
  bool isEntry = false; ///< from the operands
  bool isBack = false;  ///< from one round of a loop to the next
};

/// Returns all edges of an op, those from its operands first; empty for ops whose regions say how elements
/// are computed.
llvm::SmallVector<RegionEdge> getRegionEdges(mlir::Operation *op);

/// Returns the values that may become `value`, the argument of a region or the result of an op with regions:
/// first those that the op takes, then those that its regions return. Empty for other values.
llvm::SmallVector<mlir::Value> getIncomingValues(mlir::Value value);

/// Returns the values that `use` may become: arguments of regions and results. Empty if its op does not pass
/// it on.
llvm::SmallVector<mlir::Value> getOutgoingValues(mlir::OpOperand &use);

/// Returns the values that decide which region of `op` runs next, and whether one does: operands of the op
/// and of its regions' terminators that are not passed on.
llvm::SmallVector<mlir::Value> getDecidingValues(mlir::Operation *op);

/// Returns the one value from outside that `value` always is, if all ways through the op with regions lead to
/// it: a loop hands it from round to round as it is, all branches return it. `value` itself if there is none.
mlir::Value throughRegions(mlir::Value value);

} // namespace cgx

#endif // CGX_PASSES_REGIONFLOW_H
