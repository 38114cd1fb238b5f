//===-- OrderByCollectives.cpp - Orders ops by their collectives ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOrder.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"

namespace cgx {
#define GEN_PASS_DEF_ORDERBYCOLLECTIVESPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct OrderByCollectives : impl::OrderByCollectivesPassBase<OrderByCollectives> {
  void runOnOperation() override {
    forEachBlockWithStarts(getOperation(), [](Block &block) {
      SmallVector<OpBatch> batches;
      for (Operation *collective : getByAvailability(block, Places(block)))
        batches.push_back({collective});
      sortByStage(block, batches);
    });
  }
};

} // namespace
} // namespace cgx
