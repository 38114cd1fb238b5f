//===-- LearningRate.cpp - the argument that scales an update -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LearningRate.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cgx;

/// 1 or -1, everywhere.
static bool isUnit(Value value) {
  DenseFPElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() &&
         llvm::abs(constant.getSplatValue<APFloat>()).isExactlyValue(1.0);
}

/// The operand that a value is everywhere, but for its sign; null if there is none.
static Value getOperandButForSign(OpResult value) {
  Operation *op = value.getOwner();
  if (isa<stablehlo::MulOp>(op))
    return isUnit(op->getOperand(0))   ? op->getOperand(1)
           : isUnit(op->getOperand(1)) ? op->getOperand(0)
                                       : Value();
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return op->getOperand(value.getResultNumber());
  // A broadcast and a reshape of a scalar; a convert of one rounds it to what the update is computed in.
  const bool isSame = isa<stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp, stablehlo::ReshapeOp,
                          stablehlo::ConvertOp, stablehlo::NegOp>(op);
  return isSame ? op->getOperand(0) : Value();
}

/// The argument of the step, a single f32, that a value is everywhere, but for its sign; null if there is
/// none.
static BlockArgument getScalarArgument(Value value) {
  while (auto result = dyn_cast_if_present<OpResult>(value))
    value = getOperandButForSign(result);
  auto argument = dyn_cast_if_present<BlockArgument>(value);
  if (!argument || !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) ||
      getElementCount(argument) != 1 || !getElementTypeOrSelf(argument.getType()).isF32())
    return {};
  return argument;
}

SmallVector<BlockArgument> cgx::findLearningRates(Value reduced, Value next, ArrayRef<Value> moments) {
  const ValueSet followed = followInOrder(reduced, [&](Value value) { return value == next; });
  llvm::DenseMap<Value, ValueSet> products;
  for (Value value : followed)
    if (auto product = value.getDefiningOp<stablehlo::MulOp>())
      for (unsigned i : {0, 1})
        if (followed.contains(product->getOperand(i)))
          if (BlockArgument factor = getScalarArgument(product->getOperand(1 - i)))
            products[factor].insert(value);
  SmallVector<BlockArgument> rates;
  for (const auto &[factor, made] : products) {
    const ValueSet before = followInOrder(reduced, [&](Value value) { return made.contains(value); });
    const auto hasWayWithout = [&](Value value) { return before.contains(value) && !made.contains(value); };
    if (!hasWayWithout(next) && llvm::all_of(moments, hasWayWithout))
      rates.push_back(cast<BlockArgument>(factor));
  }
  llvm::sort(rates, [](BlockArgument a, BlockArgument b) { return a.getArgNumber() < b.getArgNumber(); });
  return rates;
}
