//===-- PerRankForm.h - attributes of a per-rank program -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_PERRANKFORM_H
#define CGX_PASSES_IMPORT_PERRANKFORM_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace cgx {

/// The way in which the ranks' pieces make up an argument or a result.
struct Distribution {
  mlir::Type globalType;
  ShardingAttr sharding;

  /// Returns the distribution of a value that is equal on every rank.
  static Distribution replicated(mlir::Type type);
  bool isReplicated() const;
};

/// Returns the step: `@main`, or the only public function. Null, with an error, when
/// there is neither.
mlir::func::FuncOp findStep(mlir::ModuleOp module);

/// Writes the per-rank form onto a function whose body and type are per-rank
/// already: names, distributions and feeds of its arguments and results; mesh
/// and number of ranks on the module. Keeps what is there already, and removes
/// the distributions that sdy and mhlo attached to the global step.
void setPerRankForm(mlir::func::FuncOp step, MeshAttr mesh, llvm::ArrayRef<Distribution> arguments,
                    llvm::ArrayRef<Distribution> results);

/// Writes the per-rank form onto a program that does not say how its values are distributed: arguments that a
/// result feeds are copies of the state, others are split in their first dimension over all ranks. With
/// `isStacked`, copies whose first dimension has size 1 are slices of a stack of copies. `mhlo.sharding` of
/// arguments, and `mhlo.spmd_output_sharding` of the module, know better.
void setPerReplicaForm(mlir::func::FuncOp step, MeshAttr mesh, bool isStacked);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_PERRANKFORM_H
