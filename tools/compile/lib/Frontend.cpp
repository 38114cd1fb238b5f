//===-- Frontend.cpp - The LLVM dialect from MLIR text ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Frontend.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/Native.h"
#include "cgx/Tools/PlacelessDiagnostics.h"
#include "cgx/Tools/PortableMlir.h"
#include "cgx/Tools/Registration.h"
#include "cgx/Tools/SourceText.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace cgx::compile {

/// Returns the dialects and interfaces that a compilation needs.
static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerPortableDialects(registry);
  registerCgxDialects(registry);
  registerNativeInterfaces(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  return registry;
}

Reading::Reading(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::raw_ostream &messages)
    : context(std::make_unique<MLIRContext>(makeRegistry())) {
  // The lowering lists all ops that it does not support, so unregistered ones must be read.
  context->allowUnregisteredDialects();
  // Diagnostics do not print the op, because it may be a whole training step.
  context->printOpOnDiagnostic(false);
  std::string reason;
  buffer = prepareSource(std::move(buffer), context->getDialectRegistry(), reason);
  if (!buffer) {
    messages << reason << '\n';
    return;
  }
  source = std::make_shared<llvm::SourceMgr>();
  source->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  handler = std::make_unique<SourceMgrDiagnosticHandler>(*source, context.get(), messages);
  printPlacelessDiagnostics(context.get(), messages);
}

OwningOpRef<ModuleOp> Reading::parse() {
  return source ? parseSourceFile<ModuleOp>(source, context.get()) : nullptr;
}

LogicalResult lower(ModuleOp module, std::string &manifest) {
  PassManager manager(module.getContext());
  // A per-rank program has its number of ranks; an exported step does not.
  if (!module->hasAttr(kNumRanksAttrName))
    buildImportPipeline(manager);
  buildLowerToLLVMPipeline(manager);
  if (failed(manager.run(module)))
    return failure();
  manifest = getManifest(module);
  return success();
}

} // namespace cgx::compile
