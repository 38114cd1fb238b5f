//===-- StepFunction.cpp - The signature of main during lowering -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Manifest.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cgx;

/// Returns the first operation that refers to a function and is no call of it, or null.
static Operation *findOtherUser(func::FuncOp function, ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (isa<func::CallOp>(op))
      return WalkResult::advance();
    op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
      if (symbol.getRootReference() == function.getSymNameAttr())
        found = op;
    });
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Returns whether a function calls itself, directly or through others.
static bool callsItself(func::FuncOp function, ModuleOp module) {
  SetVector<StringRef> reached;
  const auto add = [&](func::FuncOp caller) {
    caller.walk([&](func::CallOp call) { reached.insert(call.getCallee()); });
  };
  add(function);
  for (size_t i = 0; i < reached.size(); ++i)
    if (auto callee = module.lookupSymbol<func::FuncOp>(reached[i]))
      add(callee);
  return reached.contains(function.getSymName());
}

/// Says why a function could not be put into the step that needs it.
static LogicalResult refuse(func::FuncOp function, ModuleOp module) {
  StringRef name = function.getSymName();
  if (size_t blocks = function.getBody().getBlocks().size(); blocks != 1)
    return function.emitError("expected functions of one block, got @")
           << name << " of " << blocks << ": use stablehlo.if or stablehlo.while";
  if (Operation *user = findOtherUser(function, module)) {
    InFlightDiagnostic error = user->emitOpError();
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(user))
      error << "@" << call.getCallTargetName() << " ";
    return error << "has no native code, nor has the function @" << name << " that it calls";
  }
  if (!callsItself(function, module))
    return function.emitError("expected @main alone, got @") << name << " too: run --cgx-import first";
  return function.emitError("expected functions that do not call themselves, got @")
         << name << ": use stablehlo.while";
}

FailureOr<func::FuncOp> cgx::lookupMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return module.emitError("expected a function @main with a body");
  for (auto function : module.getOps<func::FuncOp>())
    if (function != main && !function.isExternal())
      return refuse(function, module);
  if (!main.getBody().hasOneBlock())
    return main.emitError("expected @main to be one block, got ") << main.getBody().getBlocks().size();
  return main;
}
