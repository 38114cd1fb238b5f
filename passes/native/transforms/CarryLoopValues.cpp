//===-- CarryLoopValues.cpp - Values of a loop in buffers of their own -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_CARRYLOOPVALUESPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// Returns whether `value` may be bytes of a tensor that the loop carries, rather than newly computed.
bool mayBeCarried(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op))
      value = op->getOperand(0);
    else // one branch may hand on what it got
      return isa<RegionBranchOpInterface>(op);
  }
  return true;
}

/// Makes the condition hand to the body exactly what it was given, in order, as bufferization wants it:
/// simplifications drop what the body does not read, and hand on values from outside of the loop. Failure
/// where the condition hands on a value that it computed.
FailureOr<scf::WhileOp> forwardAll(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> arguments(loop.getBeforeArguments());
  if (llvm::equal(condition.getArgs(), arguments))
    return loop;
  for (Value forwarded : condition.getArgs())
    if (!llvm::is_contained(arguments, forwarded) && loop.getBefore().isAncestor(forwarded.getParentRegion()))
      return condition.emitError("expected the condition of a loop to hand on what it was given, got ")
             << forwarded;

  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  auto whole = scf::WhileOp::create(builder, loc, loop.getInits().getTypes(), loop.getInits());
  Block &body = loop.getAfter().front();
  unsigned count = body.getNumArguments();
  for (Value argument : arguments)
    body.addArgument(argument.getType(), loc);
  for (auto [index, forwarded] : llvm::enumerate(condition.getArgs())) {
    auto position = llvm::find(arguments, forwarded) - arguments.begin();
    bool outside = position == static_cast<ptrdiff_t>(arguments.size());
    body.getArgument(index).replaceAllUsesWith(outside ? forwarded : body.getArgument(count + position));
    loop.getResult(index).replaceAllUsesWith(outside ? forwarded : whole.getResult(position));
  }
  body.eraseArguments(0, count);
  condition.getArgsMutable().assign(arguments);
  whole.getBefore().takeBody(loop.getBefore());
  whole.getAfter().takeBody(loop.getAfter());
  loop.erase();
  return whole;
}

LogicalResult carry(scf::WhileOp original) {
  FailureOr<scf::WhileOp> loop = forwardAll(original);
  if (failed(loop))
    return failure();
  scf::YieldOp yield = loop->getYieldOp();
  OpBuilder builder(yield);
  Location loc = yield.getLoc();
  SmallVector<Value> next(yield.getOperands());
  Block::BlockArgListType carried = loop->getAfterArguments();
  auto moves = [&](size_t i) { return isa<TensorType>(next[i].getType()) && next[i] != carried[i]; };
  // All copies stand before the first write.
  for (size_t i = 0; i < next.size(); ++i)
    if (moves(i) && mayBeCarried(next[i]))
      next[i] = bufferization::AllocTensorOp::create(builder, loc, cast<RankedTensorType>(next[i].getType()),
                                                     /*dynamicSizes=*/ValueRange(), /*copy=*/next[i]);
  for (size_t i = 0; i < next.size(); ++i)
    if (moves(i))
      next[i] =
          bufferization::MaterializeInDestinationOp::create(builder, loc, next[i], carried[i]).getResult();
  yield->setOperands(next);
  return success();
}

struct CarryLoopValuesPass : impl::CarryLoopValuesPassBase<CarryLoopValuesPass> {
  void runOnOperation() override {
    SmallVector<scf::WhileOp> loops;
    getOperation().walk([&](scf::WhileOp loop) { loops.push_back(loop); }); // inner loops first
    for (scf::WhileOp loop : loops)
      if (failed(carry(loop)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace cgx
