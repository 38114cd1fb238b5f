//===-- LossScales.h - Numbers that gradients are scaled by -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REWRITE_LOSSSCALES_H
#define CGX_PASSES_REWRITE_LOSSSCALES_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace cgx {

/// The scale of a loss, by which a gradient is multiplied when it comes out of a collective.
struct LossScale {
  mlir::Value number; ///< of one element
  bool isDivisor;     ///< the gradient is divided by it; else multiplied with its reciprocal
  unsigned argument;  ///< of the step, from which it is computed
  /// The ops from the collective's result to the op that scales it: each is linear, and reads the one before.
  llvm::SmallVector<mlir::Operation *> maps;
};

/// Finds the loss scales of a step: numbers that the step is given and changes, with which a gradient was
/// computed, and by which its reduction is divided. A learning rate is none: gradients are not computed with
/// it.
class LossScales {
public:
  explicit LossScales(mlir::FunctionOpInterface step) : step(step) {}

  /// Returns the loss scale of an operand, or nothing if there is none. The first call for a number takes
  /// time linear in the step.
  std::optional<LossScale> find(CollectiveOpInterface op, unsigned operand);

private:
  std::optional<unsigned> findChangingArgument(mlir::Value number);
  std::optional<unsigned> getChangingArgument(mlir::Value number);
  bool isComputedWith(mlir::Value value, unsigned argument);

  mlir::FunctionOpInterface step;
  llvm::DenseMap<mlir::Value, std::optional<unsigned>> arguments; ///< of numbers
  llvm::DenseMap<unsigned, llvm::DenseSet<mlir::Value>> computed; ///< all that depends on an argument
};

/// Returns the number that all elements of `value` are, where it is broadcast from one; null for others.
mlir::Value getBroadcastNumber(mlir::Value value);

/// Returns whether all elements of `value` are one constant.
bool isConstantFactor(mlir::Value value);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_LOSSSCALES_H
