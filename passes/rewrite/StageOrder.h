//===-- StageOrder.h - Ops by the collectives that they need ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch is one collective, or several all-reduces that become one. Batches are numbered in the order
// in which the last operand of each becomes available, and no batch needs a later one. The stage of an op is
// the number of the last batch that it needs, plus one; 0 if it needs none. Ops ordered by stage are in
// topological order: batch k needs batches before k only, so its stage is at most k, and that of
// its users more than k.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_STAGEORDER_H
#define CGX_PASSES_REWRITE_STAGEORDER_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cgx {

/// Returns whether an op is a collective that can be started. With one rank it costs nothing, and one that
/// decodes payloads again exchanges nothing.
bool canStart(mlir::Operation *op);

/// The places of the ops of a block, counted from its beginning.
class Places {
public:
  explicit Places(mlir::Block &block);

  /// Returns the place of the op of the block that is `op` or contains it.
  int64_t of(mlir::Operation *op) const { return places.lookup(block.findAncestorOpInBlock(*op)); }

  /// Returns the place of the op after which all operands of `op` are available; -1 at the beginning of the
  /// block.
  int64_t ofOperands(mlir::Operation *op) const;

private:
  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, int64_t> places;
};

/// Returns the collectives of a block that can be started, in the order in which their operands become
/// available.
llvm::SmallVector<mlir::Operation *> getByAvailability(mlir::Block &block, const Places &places);

/// Calls `visit` for each block that has a collective that can be started.
void forEachBlockWithStarts(mlir::Operation *root, llvm::function_ref<void(mlir::Block &)> visit);

using OpBatch = llvm::SmallVector<mlir::Operation *>;

/// Orders the ops of a block by stage, keeping the order within a stage.
void sortByStage(mlir::Block &block, llvm::ArrayRef<OpBatch> batches);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_STAGEORDER_H
