//===-- RankGrid.h - Groups of ranks and the axes of the mesh ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REWRITE_RANKGRID_H
#define CGX_PASSES_REWRITE_RANKGRID_H

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/layers/Axes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <tuple>

namespace cgx {

using layers::AxisSet;

/// The ranks of a program as a grid. Groups of collectives are any sets of ranks; questions about them
/// are answered in axes, along which values are replicated or not.
class RankGrid {
public:
  explicit RankGrid(mlir::ModuleOp module);

  /// Returns whether the mesh has more axes than a set holds: nothing can be said of any value.
  bool isTooLarge() const { return axes.isTooLarge(); }
  /// Returns all axes of more than one rank.
  AxisSet getAllAxes() const { return axes.all(); }
  int64_t getNumRanks() const { return mesh.getNumRanks(); }
  MeshAttr getMesh() const { return mesh; }

  /// Returns the axes along which the two ranks differ.
  AxisSet getDifference(int64_t rank, int64_t other) const { return axes.difference(rank, other); }

  /// Returns the axes along which some ranks of one of `groups` differ: a value that is replicated along them
  /// is equal on the ranks of each group.
  AxisSet getVaryingAxes(GroupsAttr groups);

  /// Returns the axes along which the results of a collective over `groups` are replicated if its operand is
  /// along `operandAxes`. With `givesEqualResults`, the ranks of a group get the same bits; otherwise their
  /// results depend on their positions.
  AxisSet getResultAxes(GroupsAttr groups, AxisSet operandAxes, bool givesEqualResults);

  /// Returns the axes along which numbers, one for each rank, are equal.
  AxisSet getAxesOfEqual(llvm::function_ref<bool(int64_t rank, int64_t other)> areEqual) const;

  /// Returns the names of axes, quoted, as for a message.
  std::string describe(AxisSet set) const { return axes.describe(set); }

private:
  /// Returns whether `holds` is true of all pairs of ranks that are neighbours along an axis.
  bool holdsAlong(unsigned axis, llvm::function_ref<bool(int64_t, int64_t)> holds) const;

  MeshAttr mesh;
  layers::Axes axes;
  llvm::DenseMap<GroupsAttr, AxisSet> varyingAxes;
  llvm::DenseMap<std::tuple<GroupsAttr, AxisSet, unsigned>, AxisSet> resultAxes;
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_RANKGRID_H
