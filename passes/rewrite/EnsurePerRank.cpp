//===-- EnsurePerRank.cpp - Imports steps that are not imported yet -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace cgx {
#define GEN_PASS_DEF_ENSUREPERRANKPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct EnsurePerRank : impl::EnsurePerRankPassBase<EnsurePerRank> {
  EnsurePerRank() { buildPipelines(); }
  EnsurePerRank(const EnsurePerRankPassOptions &options) : EnsurePerRankPassBase(options) {
    buildPipelines();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    import.getDependentDialects(registry);
  }

  void runOnOperation() override {
    bool isPerRank = getOperation()
                         .walk([](CommunicationOpInterface) { return WalkResult::interrupt(); })
                         .wasInterrupted();
    if (!isPerRank && failed(runPipeline(scatter ? import : importWhole, getOperation())))
      signalPassFailure();
  }

private:
  void buildPipelines() {
    buildImportPipeline(import);
    buildImportPipeline(importWhole, /*scatters=*/false);
  }

  OpPassManager import{ModuleOp::getOperationName()};
  OpPassManager importWhole{ModuleOp::getOperationName()};
};

} // namespace
} // namespace cgx
