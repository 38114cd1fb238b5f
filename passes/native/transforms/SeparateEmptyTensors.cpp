//===-- SeparateEmptyTensors.cpp - Uninitialized memory for each use -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_SEPARATEEMPTYTENSORSPASS
#include "cgx/Passes/Native.h.inc"

namespace {

struct SeparateEmptyTensorsPass : impl::SeparateEmptyTensorsPassBase<SeparateEmptyTensorsPass> {
  void runOnOperation() override {
    SmallVector<tensor::EmptyOp> shared;
    getOperation().walk([&](tensor::EmptyOp empty) {
      if (!empty->use_empty() && !empty->hasOneUse())
        shared.push_back(empty);
    });
    for (tensor::EmptyOp empty : shared)
      for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(empty->getUses()))) {
        OpBuilder builder(use.getOwner());
        use.set(builder.clone(*empty)->getResult(0));
      }
  }
};

} // namespace
} // namespace cgx
