//===-- FuseElementwise.cpp - Elementwise operations in one loop -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// The number of operations in one loop beyond which a multiply-used producer is kept in memory, and the
/// number of inputs beyond which a fused loop has more streams than a core prefetches.
constexpr int64_t cheapOperations = 4;
constexpr unsigned maxInputs = 16;
/// The number of operations in one loop beyond which a trip to memory costs little in comparison: each fusion
/// copies both bodies, and the time to compile a loop grows faster than its length.
constexpr size_t mostOperations = 128;

/// Returns whether the op is a copy, broadcast or transpose, with no arithmetic to repeat.
bool onlyMovesData(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<linalg::IndexOp, arith::IndexCastOp, arith::ConstantOp>(inner);
  });
}

bool isCheap(linalg::GenericOp op) {
  int64_t count = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    // A division or a function call costs as much as a trip to memory.
    if (isa<math::MathDialect>(inner.getDialect()) || isa<arith::DivFOp, arith::RemFOp>(inner))
      return false;
    ++count;
  }
  return count <= cheapOperations;
}

bool pays(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer)
    return false;
  if (onlyMovesData(producer))
    return true;
  if (producer.getBody()->getOperations().size() + consumer.getBody()->getOperations().size() >
      mostOperations)
    return false;
  if (producer.getNumDpsInputs() + consumer.getNumDpsInputs() > maxInputs)
    return false;
  // A consumer that repeats the operand would repeat the arithmetic as often.
  if (llvm::product_of(consumer.getStaticLoopRanges()) > llvm::product_of(producer.getStaticLoopRanges()))
    return false;
  return operand->get().hasOneUse() || isCheap(producer);
}

struct FuseElementwisePass : impl::FuseElementwisePassBase<FuseElementwisePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, pays);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      // Reshapes move towards arguments and products, out of the way between two loops.
      Operation *producer = operand->get().getDefiningOp();
      return producer && operand->get().hasOneUse();
    });
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    linalg::populateConstantFoldLinalgOperations(patterns, pays);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
} // namespace cgx
