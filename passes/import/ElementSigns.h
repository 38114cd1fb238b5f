//===-- ElementSigns.h - what becomes of the signs of elements ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gradient says by its sign which way a parameter is to go, and keeps it through all that is done to it on
// its way: scaling, clipping, masks, momentum, casts, matrix products with other things. A product of two
// values that both carry a sign has lost it: it is a statistic, and so are absolute values, squares and their
// roots.
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_ELEMENTSIGNS_H
#define CGX_PASSES_IMPORT_ELEMENTSIGNS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cgx {

/// The operands that a result has its sign from: it changes when all elements of one change theirs, through
/// sums, selections, movements, odd functions and products, elementwise or not. A divisor is a scale and
/// gives none.
llvm::SmallVector<mlir::Value> getSignOperands(mlir::OpResult result);

/// A product of a value with itself, also a matrix product: it has not the sign of that.
bool isSquare(mlir::Operation *op);

/// The signs that elements of a value can have, in the order in which knowledge is lost.
enum class ElementSigns {
  Unvisited,
  Constant, ///< None is negative, and all come from constants: says nothing about data.
  Equal,    ///< None has a sign that another has not: squares, absolute values, and sums of them.
  Mixed
};
inline ElementSigns join(ElementSigns a, ElementSigns b) { return std::max(a, b); }

/// What is known of a result by what is known of the operands. Not for collectives, loops and branches.
ElementSigns getElementSigns(mlir::OpResult result, llvm::function_ref<ElementSigns(mlir::Value)> signsOf);

/// What a value has its elements from, one by one, under another shape, order, type or scale.
mlir::Value getScaledBase(mlir::Value value);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_ELEMENTSIGNS_H
