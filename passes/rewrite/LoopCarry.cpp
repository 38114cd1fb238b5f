//===-- LoopCarry.cpp - Loops that carry one value more -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopCarry.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cgx {

stablehlo::WhileOp carryThroughLoop(stablehlo::WhileOp loop, Value initial) {
  OpBuilder builder(loop);
  SmallVector<Value> operands(loop.getOperand());
  operands.push_back(initial);
  SmallVector<Type> types(loop->getResultTypes());
  types.push_back(initial.getType());
  OperationState state(loop.getLoc(), loop->getName());
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttributes(loop->getAttrs());
  state.addRegion()->takeBody(loop.getCond());
  state.addRegion()->takeBody(loop.getBody());
  auto rebuilt = cast<stablehlo::WhileOp>(builder.create(state));
  for (Region *region : {&rebuilt.getCond(), &rebuilt.getBody()})
    region->front().addArgument(initial.getType(), loop.getLoc());
  Block &body = rebuilt.getBody().front();
  Operation *yield = body.getTerminator();
  yield->insertOperands(yield->getNumOperands(), body.getArguments().back());
  return rebuilt;
}

} // namespace cgx
