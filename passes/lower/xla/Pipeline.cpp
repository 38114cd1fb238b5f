//===-- Pipeline.cpp - The passes of --cgx-lower-to-xla, in their order -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------===//
#include "cgx/Passes/Manifest.h"
#include "cgx/Passes/Xla.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace cgx {

#define GEN_PASS_REGISTRATION
#include "cgx/Passes/Xla.h.inc"

void buildLowerToXlaPipeline(OpPassManager &manager, const LowerToXlaPipelineOptions &options) {
  // Callbacks into Python stay, unlike in native code: it is still there.
  manager.addPass(createLowerToXlaFfiPass(LowerToXlaFfiPassOptions{options.program}));
  // Wrapping comes last: all other passes see the program of a rank.
  manager.addPass(createWrapPerRankPass(WrapPerRankPassOptions{options.perRank}));
}

void registerXlaPasses() {
  registerKeepShardingsPass();
  registerLowerToXlaFfiPass();
  registerTakeRankPass();
  registerWrapPerRankPass();
  PassPipelineRegistration<LowerToXlaPipelineOptions>(
      "cgx-lower-to-xla",
      "Put a per-rank program back into its framework, with calls of our runtime in the place of collectives",
      buildLowerToXlaPipeline);
}

std::string takeManifest(ModuleOp module) {
  std::string manifest = getManifest(module).str();
  module->removeAttr(manifestAttrName);
  return manifest;
}

} // namespace cgx
