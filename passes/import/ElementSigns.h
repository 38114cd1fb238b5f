//===-- ElementSigns.h - propagation of the signs of elements --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sign of a gradient tells in which direction a parameter moves. It survives everything that is done to a
// gradient on its way: scaling, clipping, masks, momentum, casts, matrix products with other values. A
// product of two values that both carry a sign has lost it: it is a statistic, and so are absolute values,
// squares and their roots.
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_ELEMENTSIGNS_H
#define CGX_PASSES_IMPORT_ELEMENTSIGNS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cgx {

/// Returns the operands that a result has its sign from: it changes when all elements of one change theirs,
/// through sums, selections, movements, odd functions and products, elementwise or not. A divisor is a scale
/// and does not count.
llvm::SmallVector<mlir::Value> getSignOperands(mlir::OpResult result);

/// Returns whether the op multiplies a value by itself, also as matrices: the product does not have the sign
/// of the value.
bool isSquare(mlir::Operation *op);

/// The signs that elements of a value can have, in the order in which knowledge is lost.
enum class ElementSigns {
  Unvisited,
  Constant, ///< None is negative, and all come from constants: says nothing about data.
  Equal,    ///< None has a sign that another has not: squares, absolute values, and sums of them.
  Mixed
};
inline ElementSigns join(ElementSigns a, ElementSigns b) { return std::max(a, b); }

/// Returns the signs of a result, given those of the operands. Collectives, loops and branches are not
/// supported.
ElementSigns getElementSigns(mlir::OpResult result, llvm::function_ref<ElementSigns(mlir::Value)> signsOf);

/// Returns the value whose elements `value` has, one by one, in another shape, order, type or scale.
mlir::Value getScaledBase(mlir::Value value);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_ELEMENTSIGNS_H
