//===-- RegionFlow.h - how values pass through regions ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops, branches and manual computations tell by `RegionBranchOpInterface` which values go where. What a
// pass asks of that stands here, so that none of them knows one kind of loop from another.
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REGIONFLOW_H
#define CGX_PASSES_REGIONFLOW_H

#include "mlir/IR/Operation.h"

namespace cgx {

/// Values that an op with regions passes on together: what it takes to the arguments of a region, what a
/// region returns to the arguments of the next one or to the results.
struct RegionEdge {
  llvm::SmallVector<mlir::Value> from;
  llvm::SmallVector<mlir::Value> to;
  bool isEntry = false; ///< From the operands.
  bool isBack = false;  ///< From one round of a loop to the next.
};

/// All of an op, those from its operands first; empty for ops whose regions say how elements are computed.
llvm::SmallVector<RegionEdge> getRegionEdges(mlir::Operation *op);

/// What may become `value`, the argument of a region or the result of an op with regions: what the op takes
/// first, then what its regions return. Empty for other values.
llvm::SmallVector<mlir::Value> getIncomingValues(mlir::Value value);

/// What `use` may become: arguments of regions and results. Empty if its op does not pass it on.
llvm::SmallVector<mlir::Value> getOutgoingValues(mlir::OpOperand &use);

/// What decides which region of `op` runs next, and whether one does: operands of it and of the ends of its
/// regions that go nowhere.
llvm::SmallVector<mlir::Value> getDecidingValues(mlir::Operation *op);

/// The one value from outside that `value` always is, if all ways through the op with regions lead to it:
/// a loop hands it from round to round as it is, all branches return it. `value` itself if there is none.
mlir::Value throughRegions(mlir::Value value);

} // namespace cgx

#endif // CGX_PASSES_REGIONFLOW_H
