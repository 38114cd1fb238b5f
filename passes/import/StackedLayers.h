//===-- StackedLayers.h - parameters that are stacks of layers ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_STACKEDLAYERS_H
#define CGX_PASSES_IMPORT_STACKEDLAYERS_H

#include "StepDataFlow.h"
#include "StepState.h"

namespace cgx {

/// The leading dimensions of the step's arguments that count layers: those of which the step reads one piece
/// after the other, `lax.scan` in a loop by its counter, an unrolled loop each piece by its number. A
/// parameter that a contraction or a look-up takes as a whole is no stack, nor is a table whose rows data
/// chooses.
///
///     while (%i = 0; %i < 12) { %w = dynamic_slice %stack, %i, 0, 0, sizes = [1, 64, 64] ... }     12 layers
class StackedLayers {
public:
  StackedLayers(mlir::func::FuncOp step, const StepDataFlow &flow, const StepState &state);

  /// Returns the number of leading dimensions of a parameter's shape that count layers; 0 for one layer.
  unsigned getDepth(unsigned argument) const;

private:
  /// A dimension of an argument.
  using Dimension = std::pair<unsigned, int64_t>;

  void visit(mlir::Operation *op);
  void visitDynamicSlice(mlir::Operation *op);
  void visitSlice(mlir::Operation *op);
  void visitReader(mlir::Operation *op);
  /// Calls `visit` for each argument whose elements a value keeps, with the dimension that is the first of
  /// the value.
  void forEachFirstDimension(mlir::Value value, llvm::function_ref<void(Dimension)> visit) const;

  const StepDataFlow &flow;
  const StepState &state;
  llvm::DenseSet<Dimension> counted; ///< by a loop
  llvm::DenseMap<Dimension, llvm::DenseSet<int64_t>> pieces;
  llvm::DenseSet<Dimension> whole;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_STACKEDLAYERS_H
