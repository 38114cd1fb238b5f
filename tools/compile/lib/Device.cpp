//===-- Device.cpp - A step as a program of XLA for one rank ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Frontend.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/Manifest.h"
#include "cgx/Passes/Native.h"
#include "cgx/Passes/Xla.h"
#include "cgx/Tools/LargeStack.h"
#include "cgx/Tools/SourceFile.h"
#include "cgx/compile.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cgx::compile {

/// Writes down what the program takes, returns and communicates. Native code begins with the same passes, as
/// far as the manifest depends on them, so that a run may go on from a checkpoint of the other kind.
static LogicalResult describe(ModuleOp module, std::string &manifest) {
  PassManager manager(module.getContext());
  if (!module->hasAttr(kNumRanksAttrName))
    buildImportPipeline(manager);
  manager.addPass(createInlineFunctionsPass());
  // There is no Python to be called back.
  manager.addPass(createDropCallbacksPass());
  manager.addPass(createEmitManifestPass());
  if (failed(manager.run(module)))
    return failure();
  manifest = takeManifest(module);
  return success();
}

static LogicalResult lowerToXla(ModuleOp module, llvm::StringRef manifest, std::string &name) {
  const llvm::json::Value parsed = llvm::cantFail(llvm::json::parse(manifest));
  name = parsed.getAsObject()->getString("hash")->str();
  LowerToXlaPipelineOptions options;
  options.program = name;
  options.perRank = true;
  PassManager manager(module.getContext());
  buildLowerToXlaPipeline(manager, options);
  manager.addPass(createTakeRankPass());
  if (failed(manager.run(module)))
    return failure();
  takeManifest(module); // the runtime has that of describe(), as native steps do
  return success();
}

static DeviceStep lowerBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  DeviceStep step;
  llvm::raw_string_ostream messages(step.diagnostics);
  Reading reading(std::move(buffer), messages);
  OwningOpRef<ModuleOp> module = reading.parse();
  if (!module || failed(describe(*module, step.manifest)) ||
      failed(lowerToXla(*module, step.manifest, step.name)))
    return step;
  // Without locations: each version of XLA reads what is printed here.
  step.text.emplace();
  llvm::raw_string_ostream stream(*step.text);
  module->print(stream);
  return step;
}

DeviceStep lowerTextForDevice(const std::string &text, const std::string &name) {
  DeviceStep step;
  runOnLargeStack([&] { step = lowerBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name)); });
  return step;
}

DeviceStep lowerFileForDevice(const std::string &path) {
  std::string why;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readSourceFile(path, why);
  if (!buffer)
    return {std::nullopt, "", "", path + ": error: cannot read: " + why + "\n"};
  DeviceStep step;
  runOnLargeStack([&] { step = lowerBuffer(std::move(buffer)); });
  return step;
}

} // namespace cgx::compile
