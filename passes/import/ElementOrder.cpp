//===-- ElementOrder.cpp - values that have a tensor's elements in order --===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementOrder.h"

#include "KeptElements.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

using namespace mlir;
using namespace cgx;

int64_t cgx::getElementCount(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

/// Dimensions of more than one element stay in their order when dimension i goes to where[i].
static bool keepsOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> where) {
  int64_t last = -1;
  for (auto [size, to] : llvm::zip_equal(shape, where)) {
    if (size == 1)
      continue;
    if (to < last)
      return false;
    last = to;
  }
  return true;
}

/// The op gives the elements of an operand that it keeps in the order in which they lie in memory.
static bool keepsOrder(Operation *op) {
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    SmallVector<int64_t> where(transpose.getPermutation().size());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      where[from] = static_cast<int64_t>(to);
    return keepsOrder(cast<RankedTensorType>(transpose.getOperand().getType()).getShape(), where);
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return keepsOrder(cast<RankedTensorType>(broadcast.getOperand().getType()).getShape(),
                      broadcast.getBroadcastDimensions());
  return !isa<stablehlo::ReverseOp>(op);
}

SmallVector<Value> cgx::getOperandsInOrder(OpResult value) {
  if (!keepsOrder(value.getOwner()))
    return {};
  SmallVector<Value> kept = getKeptOperands(value);
  llvm::erase_if(kept, [&](Value operand) { return getElementCount(operand) != getElementCount(value); });
  return kept;
}

ValueSet cgx::followInOrder(Value from, function_ref<bool(Value)> ends) {
  ValueSet followed = {from};
  SmallVector<Value> worklist = {from};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (ends(value))
      continue;
    for (Operation *user : value.getUsers())
      for (OpResult result : user->getResults())
        if (llvm::is_contained(getOperandsInOrder(result), value) && followed.insert(result).second)
          worklist.push_back(result);
  }
  return followed;
}
