//===-- FoldTransposes.cpp - Transposes into matrix products ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_FOLDTRANSPOSESPASS
#include "cgx/Passes/Native.h.inc"

namespace {

using stablehlo::DotDimensionNumbersAttr;
using stablehlo::DotGeneralOp;
using stablehlo::TransposeOp;

/// Returns the dimensions of a product's operand that are neither batch nor contracted.
SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted) {
  SmallVector<int64_t> free;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim))
      free.push_back(dim);
  return free;
}

/// Maps dimensions of a transpose's result to dimensions of its operand.
SmallVector<int64_t> through(ArrayRef<int64_t> permutation, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return permutation[dim]; });
}

int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// dot_general(transpose(x), y) -> dot_general(x, y) with the dimensions of x, if that
/// leaves the order of the free dimensions, which is the order of the result's.
struct DotGeneralOfTransposePattern : OpRewritePattern<DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotGeneralOp op, PatternRewriter &rewriter) const override {
    DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    SmallVector<int64_t> lhsBatch(numbers.getLhsBatchingDimensions()),
        rhsBatch(numbers.getRhsBatchingDimensions()), lhsContracted(numbers.getLhsContractingDimensions()),
        rhsContracted(numbers.getRhsContractingDimensions());
    Value lhs = op.getLhs(), rhs = op.getRhs();
    bool foldsLhs = look(lhs, lhsBatch, lhsContracted), foldsRhs = look(rhs, rhsBatch, rhsContracted);
    if (!foldsLhs && !foldsRhs)
      return rewriter.notifyMatchFailure(op, "no operand is a transpose that folds");
    rewriter.modifyOpInPlace(op, [&] {
      op.getLhsMutable().assign(lhs);
      op.getRhsMutable().assign(rhs);
      op.setDotDimensionNumbersAttr(
          DotDimensionNumbersAttr::get(op.getContext(), lhsBatch, rhsBatch, lhsContracted, rhsContracted));
    });
    return success();
  }

  static bool look(Value &operand, SmallVector<int64_t> &batch, SmallVector<int64_t> &contracted) {
    auto transpose = operand.getDefiningOp<TransposeOp>();
    if (!transpose)
      return false;
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    if (!llvm::is_sorted(through(permutation, freeDims(permutation.size(), batch, contracted))))
      return false;
    operand = transpose.getOperand();
    batch = through(permutation, batch);
    contracted = through(permutation, contracted);
    return true;
  }
};

/// transpose(dot_general(x, y)) -> dot_general(y, x), if the transpose swaps what comes from x with
/// what comes from y.
struct TransposeOfDotGeneralPattern : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getOperand().getDefiningOp<DotGeneralOp>();
    if (!dot || !dot->hasOneUse())
      return rewriter.notifyMatchFailure(op, "not of a product of its own");
    DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
    int64_t batches = numbers.getLhsBatchingDimensions().size();
    int64_t fromLhs = rankOf(dot.getLhs()) - batches - numbers.getLhsContractingDimensions().size();
    int64_t rank = rankOf(op.getOperand());
    SmallVector<int64_t> swap = llvm::to_vector(llvm::seq<int64_t>(0, batches));
    llvm::append_range(swap, llvm::seq<int64_t>(batches + fromLhs, rank));
    llvm::append_range(swap, llvm::seq<int64_t>(batches, batches + fromLhs));
    if (op.getPermutation() != ArrayRef(swap))
      return rewriter.notifyMatchFailure(op, "does not swap the operands' dimensions");
    auto swapped = DotDimensionNumbersAttr::get(
        op.getContext(), numbers.getRhsBatchingDimensions(), numbers.getLhsBatchingDimensions(),
        numbers.getRhsContractingDimensions(), numbers.getLhsContractingDimensions());
    rewriter.setInsertionPoint(dot);
    auto product = cast<DotGeneralOp>(rewriter.clone(*dot));
    product.getLhsMutable().assign(dot.getRhs());
    product.getRhsMutable().assign(dot.getLhs());
    product.setDotDimensionNumbersAttr(swapped);
    product.getResult().setType(cast<RankedTensorType>(op.getType()));
    rewriter.replaceOp(op, product);
    return success();
  }
};

struct FoldTransposesPass : impl::FoldTransposesPassBase<FoldTransposesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DotGeneralOfTransposePattern, TransposeOfDotGeneralPattern>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace cgx
