//===-- ElementOrder.h - values that have a tensor's elements in order ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_ELEMENTORDER_H
#define CGX_PASSES_IMPORT_ELEMENTORDER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cgx {

using ValueSet = llvm::DenseSet<mlir::Value>;

/// The elements of a tensor of static shape; -1 of anything else.
int64_t getElementCount(mlir::Value value);

/// The operands whose elements a value has, made from them one by one, in the order in which they lie in
/// memory.
llvm::SmallVector<mlir::Value> getOperandsInOrder(mlir::OpResult value);

/// All values that have the elements of `from` in their order, but what is made of values where it `ends`.
ValueSet followInOrder(mlir::Value from, llvm::function_ref<bool(mlir::Value)> ends);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_ELEMENTORDER_H
