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
#include "llvm/ADT/StringSet.h"

namespace cgx {
#define GEN_PASS_DEF_INLINEFUNCTIONSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {
class FunctionInliner {
public:
  explicit FunctionInliner(ModuleOp module)
      : module(module), symbols(module), main(symbols.lookup<func::FuncOp>("main")) {}

  void run() {
    for (auto function : module.getOps<func::FuncOp>())
      flatten(function);
    eraseUnusedFunctions();
  }

private:
  enum class State { Flattening, Flat };

  /// Inlines the calls of a function, and its composites, those of its callees first. A function
  /// that is being flattened already calls itself: that call stays.
  void flatten(func::FuncOp function) {
    if (!states.try_emplace(function, State::Flattening).second)
      return;
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
      flatten(callee);
      if (states[callee] == State::Flat) {
        inlineCall(call, callee);
        inlined.insert(callee);
      }
    }
    states[function] = State::Flat;
  }

  /// Where there is a @main, nobody else calls the others: a function is public when nothing is said of it.
  bool mayInline(func::FuncOp callee) { return callee.isPrivate() || (main && callee != main); }

  static void inlineCall(Operation *call, func::FuncOp callee) {
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call->getOperands());
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      copy->walk([&](Operation *inner) { inner->setLoc(CallSiteLoc::get(inner->getLoc(), call->getLoc())); });
    }
    for (auto [result, value] : llvm::zip_equal(call->getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(value));
    call->erase();
  }

  void eraseUnusedFunctions() {
    // Not by SymbolTable::getSymbolUses, which knows nothing of a module with an operation that no dialect
    // defines and that has a region.
    llvm::StringSet<> used;
    module.walk([&](Operation *op) {
      op->getAttrDictionary().walk(
          [&](SymbolRefAttr symbol) { used.insert(symbol.getRootReference().getValue()); });
    });
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if ((function.isPrivate() || inlined.contains(function)) && !used.contains(function.getName()))
        function.erase();
  }

  ModuleOp module;
  SymbolTable symbols;
  func::FuncOp main;
  llvm::DenseMap<func::FuncOp, State> states;
  llvm::DenseSet<func::FuncOp> inlined;
};

struct InlineFunctionsPass : cgx::impl::InlineFunctionsPassBase<InlineFunctionsPass> {
  void runOnOperation() final { FunctionInliner(getOperation()).run(); }
};
} // namespace
