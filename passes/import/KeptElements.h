//===-- KeptElements.h - ops that keep a tensor's elements in place ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_KEPTELEMENTS_H
#define CGX_PASSES_IMPORT_KEPTELEMENTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cgx {

/// Returns the operands whose elements `result` keeps: each element of the result is
/// made from one element of the operand, or of each such operand, at the same
/// place. Elementwise ops keep the operands that have as many elements as the
/// result; reshapes, transposes and reductions over dimensions of size 1 keep
/// theirs; slices, concatenations and pads move elements without changing them.
///
/// A predicate keeps nothing: the decision whether an update is applied does not tell where its elements come
/// from. Loops, branches and cgx's collectives are not followed.
llvm::SmallVector<mlir::Value> getKeptOperands(mlir::OpResult result);

/// Follows kept operands, through collectives too, back to where the elements of `value` are made, and
/// returns whether any of that is a contraction, a convolution, a look-up or a move of data, rather than a
/// reduction (a statistic) or a constant.
bool isMadeByContraction(mlir::Value value);

using ValueSet = llvm::DenseSet<mlir::Value>;

/// Returns the number of elements of a tensor of static shape; -1 for anything else.
int64_t getElementCount(mlir::Value value);

/// Returns the operands whose elements a value has, made from them one by one, in the order in which they lie
/// in memory.
llvm::SmallVector<mlir::Value> getOperandsInOrder(mlir::OpResult value);

/// Returns all values that have the elements of `from` in their order. The search ends at values where `ends`
/// is true.
ValueSet followInOrder(mlir::Value from, llvm::function_ref<bool(mlir::Value)> ends);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_KEPTELEMENTS_H
