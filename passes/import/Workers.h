//===-- Workers.h - ranks that train together in local training -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_WORKERS_H
#define CGX_PASSES_IMPORT_WORKERS_H

#include "StepState.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace cgx {

/// The workers, which train by themselves between outer steps: ranks, or sets of ranks with equal coordinates
/// along some axes of the mesh.
class Workers {
public:
  Workers(MeshAttr mesh, llvm::ArrayRef<mlir::Attribute> axes);

  /// Returns the groups of ranks that have the same place in each worker.
  GroupsAttr getGroups() const { return groups; }
  int64_t getCount() const { return groups.getLargestSize(); }

  /// Returns whether data that travels in these groups stays inside of a worker. With a single worker, the
  /// groups between workers still count as outside.
  bool isInside(GroupsAttr other) const;

  /// Returns the parts of each group that are inside of one worker, if each worker has an equal part in it.
  std::optional<llvm::SmallVector<llvm::SmallVector<int64_t>>> split(GroupsAttr other) const;

private:
  GroupsAttr groups;
  llvm::DenseMap<int64_t, int64_t> workerOf;
};

/// The values of a step that depend on some that differ between ranks, in this step or, through the state,
/// in a later one. An all-reduce over the ranks gives them one value again; a loop or a branch is taken as a
/// whole.
class Divergence {
public:
  /// Finds the values that diverge. `agrees` tells whether the results of an op are equal on the ranks
  /// whatever its operands are.
  Divergence(mlir::func::FuncOp step, const StepState &state, llvm::ArrayRef<mlir::Value> sources,
             llvm::function_ref<bool(mlir::Operation &)> agrees);

  bool contains(mlir::Value value) const { return values.contains(value); }

private:
  bool dependsOnSome(mlir::Operation &op) const;

  llvm::DenseSet<mlir::Value> values;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_WORKERS_H
