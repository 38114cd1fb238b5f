//===-- DropCallbacks.cpp - Calls of the host that no result needs ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_DROPCALLBACKSPASS
#include "cgx/Passes/Native.h.inc"

namespace {

bool isToken(Value value) { return isa<stablehlo::TokenType>(value.getType()); }

/// Returns a token for uses that go away.
Value makeToken(OpBuilder &builder, Location loc) {
  return stablehlo::CreateTokenOp::create(builder, loc, builder.getType<stablehlo::TokenType>());
}

/// Returns the numbers of the tokens among values.
BitVector findTokens(ValueRange values) {
  BitVector tokens(values.size());
  for (auto [index, value] : llvm::enumerate(values))
    if (isToken(value))
      tokens.set(index);
  return tokens;
}

bool isOnlyOrdered(stablehlo::CustomCallOp call) {
  return llvm::all_of(call.getResults(), [](Value result) { return result.use_empty() || isToken(result); });
}

struct DropCallbacksPass : impl::DropCallbacksPassBase<DropCallbacksPass> {
  void runOnOperation() override {
    dropCalls();
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp, stablehlo::OptimizationBarrierOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      dropCarriedTokens(op);
    if (auto main = getOperation().lookupSymbol<func::FuncOp>("main"); main && !main.isExternal())
      dropTokensOfSignature(main);
    eraseDeadTokens();
  }

  void dropCalls() {
    llvm::MapVector<StringRef, int64_t> targets;
    SmallVector<stablehlo::CustomCallOp> calls;
    getOperation().walk([&](stablehlo::CustomCallOp call) {
      if (isOnlyOrdered(call))
        calls.push_back(call);
    });
    if (calls.empty())
      return;
    for (stablehlo::CustomCallOp call : calls)
      ++targets[call.getCallTargetName()];
    InFlightDiagnostic warning = calls.front().emitWarning("native code does without calls of the host whose "
                                                           "results the step does not use: ");
    llvm::interleaveComma(targets, warning,
                          [&](auto &entry) { warning << "@" << entry.first << " (" << entry.second << ")"; });
    for (stablehlo::CustomCallOp call : calls) {
      OpBuilder builder(call);
      for (Value result : call.getResults())
        if (!result.use_empty())
          result.replaceAllUsesWith(makeToken(builder, call.getLoc()));
      call.erase();
    }
  }

  /// Rebuilds the op without the tokens that it takes, carries and returns.
  void dropCarriedTokens(Operation *op) {
    BitVector operands = findTokens(op->getOperands()), results = findTokens(op->getResults());
    if (operands.none() && results.none())
      return;
    OpBuilder builder(op);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        if (isa<stablehlo::ReturnOp>(block.getTerminator()))
          block.getTerminator()->eraseOperands(findTokens(block.getTerminator()->getOperands()));
        OpBuilder inside = OpBuilder::atBlockBegin(&block);
        for (Value argument : block.getArguments())
          if (isToken(argument))
            argument.replaceAllUsesWith(makeToken(inside, op->getLoc()));
        block.eraseArguments(findTokens(block.getArguments()));
      }
    op->eraseOperands(operands);
    SmallVector<Type> types;
    for (Value result : op->getResults())
      if (!isToken(result))
        types.push_back(result.getType());
    OperationState state(op->getLoc(), op->getName(), op->getOperands(), types, op->getAttrs());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *made = builder.create(state);
    auto next = made->result_begin();
    for (Value result : op->getResults())
      result.replaceAllUsesWith(isToken(result) ? makeToken(builder, op->getLoc()) : Value(*next++));
    op->erase();
  }

  /// Drops the tokens that JAX threads through the signature, first of all, for callbacks in order.
  void dropTokensOfSignature(func::FuncOp main) {
    Operation *terminator = main.getBody().back().getTerminator();
    BitVector arguments = findTokens(main.getArguments()), results = findTokens(terminator->getOperands());
    OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
    for (Value argument : main.getArguments())
      if (isToken(argument))
        argument.replaceAllUsesWith(makeToken(builder, main.getLoc()));
    for (unsigned result = 0; result < results.size(); ++result)
      if (auto feeds = main.getResultAttrOfType<IntegerAttr>(result, kFeedsAttrName);
          feeds && !results[result])
        main.setResultAttr(result, kFeedsAttrName,
                           IntegerAttr::get(feeds.getType(), numberWithout(arguments, feeds.getInt())));
    terminator->eraseOperands(results);
    (void)main.eraseResults(results);
    (void)main.eraseArguments(arguments);
  }

  static int64_t numberWithout(const BitVector &erased, int64_t number) {
    return number - llvm::count_if(erased.set_bits(), [&](unsigned bit) { return bit < number; });
  }

  void eraseDeadTokens() {
    SmallVector<Operation *> makers;
    getOperation().walk([&](Operation *op) {
      if (isa<stablehlo::CreateTokenOp, stablehlo::AfterAllOp>(op))
        makers.push_back(op);
    });
    for (Operation *op : llvm::reverse(makers))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
} // namespace cgx
