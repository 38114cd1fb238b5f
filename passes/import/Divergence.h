//===-- Divergence.h - what ranks no longer hold alike --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_DIVERGENCE_H
#define CGX_PASSES_IMPORT_DIVERGENCE_H

#include "StepState.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace cgx {

/// The values of a step that depend on some that differ between ranks, in this step or, through the state,
/// in a later one. An all-reduce over the ranks gives them one value again; a loop or a branch is taken as a
/// whole.
class Divergence {
public:
  /// `agrees`: whether the results of an op are equal on the ranks whatever its operands are.
  Divergence(mlir::func::FuncOp step, const StepState &state, llvm::ArrayRef<mlir::Value> sources,
             llvm::function_ref<bool(mlir::Operation &)> agrees);

  bool contains(mlir::Value value) const { return values.contains(value); }

private:
  bool dependsOnSome(mlir::Operation &op) const;

  llvm::DenseSet<mlir::Value> values;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_DIVERGENCE_H
