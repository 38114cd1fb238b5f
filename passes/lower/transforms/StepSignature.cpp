//===-- StepSignature.cpp - How main looks on its way down -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "StepSignature.h"
#include "cgx/Passes/Lower.h"

using namespace mlir;

FailureOr<func::FuncOp> cgx::lookupMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return module.emitError("expected a function @main with a body");
  for (auto function : module.getOps<func::FuncOp>())
    if (function != main && !function.isExternal())
      return function.emitError("expected every function inlined into @main, got @") << function.getSymName();
  if (!main.getBody().hasOneBlock())
    return main.emitError("expected @main to be one block, got ") << main.getBody().getBlocks().size();
  return main;
}

StringRef cgx::getManifest(ModuleOp module) {
  auto manifest = module->getAttrOfType<StringAttr>(manifestAttrName);
  return manifest ? manifest.getValue() : StringRef();
}
