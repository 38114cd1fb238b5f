//===-- ComputeInSlices.cpp - Computes tensors in the slices that they go into -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_COMPUTEINSLICESPASS
#include "cgx/Passes/Native.h.inc"

namespace {

struct ComputeInSlicesPass : impl::ComputeInSlicesPassBase<ComputeInSlicesPass> {
  void runOnOperation() override {
    const WalkResult walked =
        getOperation().walk([](SubsetInsertionOpInterface) { return WalkResult::interrupt(); });
    if (!walked.wasInterrupted())
      return;
    OpPassManager manager(ModuleOp::getOperationName());
    manager.addPass(bufferization::createEmptyTensorEliminationPass());
    if (failed(runPipeline(manager, getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace cgx
