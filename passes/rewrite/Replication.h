//===-- Replication.h - Which values are equal on which ranks ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REWRITE_REPLICATION_H
#define CGX_PASSES_REWRITE_REPLICATION_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace cgx {

/// A set of axes of the mesh, one bit each. Axes of size 1 do not count.
using AxisSet = uint64_t;

/// For each value of a per-rank program, the axes along which it is replicated:
/// ranks that differ only along those axes hold the same bits.
///
/// Forward data flow without iteration: one visit to each op, in program order.
/// Nothing is known of values that loops carry.
class Replication {
public:
  explicit Replication(mlir::ModuleOp module);

  /// The axes along which `value` is replicated. The op that defines it was visited.
  AxisSet getAxes(mlir::Value value) const { return axesOf.lookup(value); }

  /// Derives what is known of the results of `op` from its operands.
  void visit(mlir::Operation *op);

  /// `value` is equal on the ranks of each of `groups`.
  bool isReplicatedOver(mlir::Value value, GroupsAttr groups);

private:
  /// The axes along which the ranks of each of `groups` differ; nothing if `groups` are not
  /// what some axes give.
  std::optional<AxisSet> getAxes(GroupsAttr groups);
  AxisSet getCommunicatedAxes(CommunicationOpInterface op);
  AxisSet getComputedAxes(mlir::Operation *op);
  void visitArguments(mlir::Operation *function);

  /// Null where the mesh has more axes than an AxisSet holds: nothing is known then.
  MeshAttr mesh;
  AxisSet allAxes = 0;
  llvm::DenseMap<mlir::Value, AxisSet> axesOf;
  llvm::DenseMap<GroupsAttr, std::optional<AxisSet>> axesOfGroups;
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_REPLICATION_H
