//===-- Frontend.cpp - MLIR text to the LLVM dialect -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Frontend.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/Lower.h"
#include "cgx/Tools/Registration.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace cgx::compile {

void registerEverything(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerCgxDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

OwningOpRef<ModuleOp> lowerSource(const std::shared_ptr<llvm::SourceMgr> &source, MLIRContext &context,
                                  std::string &manifest) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(source, &context);
  if (!module)
    return nullptr;
  PassManager manager(&context);
  // A per-rank program says how many ranks it is for; an exported step does not.
  if (!module->getOperation()->hasAttr(kNumRanksAttrName))
    buildImportPipeline(manager);
  buildLowerToLLVMPipeline(manager);
  if (failed(manager.run(*module)))
    return nullptr;
  manifest = getManifest(*module);
  return module;
}

} // namespace cgx::compile
