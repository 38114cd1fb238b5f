//===-- InlineFunctions.cpp - one function out of an exported step's many -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace cgx {
#define GEN_PASS_DEF_INLINEFUNCTIONSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

/// A function is copied to each of its calls, so a few lines can stand for more operations than any machine
/// has. A step becomes at most so many times as long, or so many operations; no exported step comes near
/// either.
static constexpr uint64_t kMostGrowth = 16, kMostCopies = 1 << 20;
/// Calls in calls: the location of an operation names them all.
static constexpr unsigned kDeepestCalls = 500;

static uint64_t countOps(Operation *op) {
  uint64_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

namespace {
class FunctionInliner {
public:
  explicit FunctionInliner(ModuleOp module)
      : module(module), symbols(module), main(symbols.lookup<func::FuncOp>("main")),
        mostCopies(std::max(kMostCopies, kMostGrowth * countOps(module))), uses(countUses()) {}

  LogicalResult run() {
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(flatten(function)))
        return failure();
    eraseUnusedFunctions();
    return checkMain();
  }

private:
  enum class State { Flattening, Flat };

  /// Inlines the calls of a function, and its composites, those of its callees first. A function
  /// that is being flattened already calls itself: that call stays.
  LogicalResult flatten(func::FuncOp function) {
    if (!states.try_emplace(function, State::Flattening).second)
      return success();
    if (depth == kDeepestCalls)
      return function.emitError("expected calls to be at most ")
             << kDeepestCalls << " deep, got more at @" << function.getSymName();
    ++depth;
    SmallVector<Operation *> calls;
    function.walk([&](Operation *op) {
      if (isa<func::CallOp, stablehlo::CompositeOp>(op))
        calls.push_back(op);
    });
    for (Operation *call : calls) {
      auto composite = dyn_cast<stablehlo::CompositeOp>(call);
      StringRef name = composite ? composite.getDecomposition() : cast<func::CallOp>(call).getCallee();
      auto callee = symbols.lookup<func::FuncOp>(name);
      if (!callee || !mayInline(callee) || !callee.getBody().hasOneBlock())
        continue;
      if (failed(flatten(callee)))
        return failure();
      if (states[callee] == State::Flat && failed(inlineCall(call, callee, function)))
        return failure();
    }
    sizes[function] = countOps(function);
    states[function] = State::Flat;
    --depth;
    return success();
  }

  /// Rejects a step that calls itself, which would have no end: the functions that it calls are part of it by
  /// now.
  LogicalResult checkMain() {
    if (!main)
      return success();
    WalkResult walk = main.walk([&](func::CallOp call) {
      if (call.getCallee() != main.getSymName())
        return WalkResult::advance();
      call.emitError("expected functions that do not call themselves, got @main: use stablehlo.while");
      return WalkResult::interrupt();
    });
    return failure(walk.wasInterrupted());
  }

  /// Returns whether a function may be inlined and erased. If there is a @main, nobody outside calls the
  /// others: a function without a visibility is public.
  bool mayInline(func::FuncOp callee) { return callee.isPrivate() || (main && callee != main); }

  LogicalResult inlineCall(Operation *call, func::FuncOp callee, func::FuncOp caller) {
    const auto setLocation = [&](Operation *inner) {
      inner->setLoc(CallSiteLoc::get(inner->getLoc(), call->getLoc()));
    };
    inlined.insert(callee);
    IRMapping mapping;
    Block &body = callee.getBody().front();
    Operation *end = body.getTerminator();
    const bool isMoved = uses.lookup(callee.getSymName()) == 1; // nobody misses what it is made of
    if (isMoved) {
      for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), call->getOperands()))
        argument.replaceAllUsesWith(operand);
      body.walk([&](Operation *inner) {
        if (inner != end)
          setLocation(inner);
      });
      call->getBlock()->getOperations().splice(call->getIterator(), body.getOperations(), body.begin(),
                                               end->getIterator());
    } else {
      if ((copies += sizes[callee]) > mostCopies)
        return caller.emitError("expected at most ")
               << mostCopies << " operations to be copied to where functions are called, got more at @"
               << caller.getSymName() << ", which calls @" << callee.getSymName() << " of " << sizes[callee];
      OpBuilder builder(call);
      mapping.map(callee.getArguments(), call->getOperands());
      for (Operation &op : body.without_terminator())
        builder.clone(op, mapping)->walk(setLocation);
    }
    for (auto [result, value] : llvm::zip_equal(call->getResults(), end->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    if (isMoved) // what is left of it is erased in the end, perhaps after the function that has its
                 // operations now
      end->setOperands(ValueRange());
    call->erase();
    return success();
  }

  /// Counts the uses of each symbol. SymbolTable::getSymbolUses cannot: it gives up on a module with an op of
  /// no known dialect that has a region.
  llvm::StringMap<uint64_t> countUses() {
    llvm::StringMap<uint64_t> count;
    module.walk([&](Operation *op) {
      op->getAttrDictionary().walk(
          [&](SymbolRefAttr symbol) { ++count[symbol.getRootReference().getValue()]; });
    });
    return count;
  }

  void eraseUnusedFunctions() {
    const llvm::StringMap<uint64_t> used = countUses();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if ((function.isPrivate() || inlined.contains(function)) && !used.contains(function.getName()))
        function.erase();
  }

  ModuleOp module;
  SymbolTable symbols;
  func::FuncOp main;
  uint64_t copies = 0;
  const uint64_t mostCopies;
  const llvm::StringMap<uint64_t> uses;
  unsigned depth = 0; ///< of calls in calls
  llvm::DenseMap<func::FuncOp, State> states;
  llvm::DenseMap<func::FuncOp, uint64_t> sizes; ///< operations of what is flat
  llvm::DenseSet<func::FuncOp> inlined;
};

struct InlineFunctionsPass : cgx::impl::InlineFunctionsPassBase<InlineFunctionsPass> {
  void runOnOperation() final {
    if (failed(FunctionInliner(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
