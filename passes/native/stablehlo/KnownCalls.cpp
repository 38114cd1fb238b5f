//===-- KnownCalls.cpp - Custom calls whose meaning is known ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Expansions.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace cgx {
namespace {

/// Entries of the configuration of a call, which stands in one of several places.
Attribute configuration(stablehlo::CustomCallOp op, StringRef name) {
  for (Attribute place :
       {op->getAttr("mhlo.backend_config"), op->getAttr("mhlo.attributes"), op.getBackendConfigAttr()})
    if (auto config = dyn_cast_or_null<DictionaryAttr>(place))
      if (Attribute value = config.get(name))
        return value;
  return {};
}

/// custom_call @Sharding(x) -> x. Such calls only tell XLA where to keep a tensor; in a program of one rank
/// that is known.
struct AnnotationPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    static constexpr StringLiteral annotations[] = {"Sharding", "annotate_device_placement",
                                                    "LayoutConstraint", "MoveToHost", "MoveToDevice"};
    if (!llvm::is_contained(annotations, op.getCallTargetName()))
      return failure();
    if (op.getInputs().size() != 1 || op.getNumResults() != 1 ||
        op.getInputs()[0].getType() != op.getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "does not return its operand");
    rewriter.replaceOp(op, op.getInputs());
    return success();
  }
};

/// custom_call @shape_assertion(true, ...) -> nothing
struct ShapeAssertionPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (op.getCallTargetName() != "shape_assertion" || op.getInputs().empty() || op.getNumResults() != 0)
      return failure();
    auto constant = op.getInputs()[0].getDefiningOp<stablehlo::ConstantOp>();
    auto value = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
    if (!value || !value.isSplat() || !value.getElementType().isInteger(1) || !value.getSplatValue<bool>())
      return rewriter.notifyMatchFailure(op, "an assertion that may not hold");
    rewriter.eraseOp(op);
    return success();
  }
};

/// custom_call @mhlo.topk(x) -> top_k(x)
struct TopKCallPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (op.getCallTargetName() != "mhlo.topk")
      return failure();
    auto k = dyn_cast_or_null<IntegerAttr>(configuration(op, "k"));
    auto largest = dyn_cast_or_null<BoolAttr>(configuration(op, "largest"));
    if (!k || (largest && !largest.getValue()) || op.getInputs().size() != 1 || op.getNumResults() != 2)
      return rewriter.notifyMatchFailure(op, "not the k largest");
    auto top = chlo::TopKOp::create(rewriter, op.getLoc(), op.getResultTypes(), op.getInputs()[0],
                                    static_cast<uint64_t>(k.getInt()));
    rewriter.replaceOp(op, top);
    return success();
  }
};

/// custom_call @ApproxTopK(x..., init...) -> the first k of sort(x...): exact, as XLA computes it on CPUs
struct ApproxTopKPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (op.getCallTargetName() != "ApproxTopK")
      return failure();
    auto k = dyn_cast_or_null<IntegerAttr>(configuration(op, "top_k"));
    auto dim = dyn_cast_or_null<IntegerAttr>(configuration(op, "reduction_dim"));
    auto aggregates = dyn_cast_or_null<BoolAttr>(configuration(op, "aggregate_to_topk"));
    auto computations = op.getCalledComputationsAttr();
    size_t count = op.getNumResults();
    if (!k || !dim || !aggregates || !aggregates.getValue() || !computations || computations.size() != 1 ||
        count == 0 || op.getInputs().size() != 2 * count)
      return rewriter.notifyMatchFailure(op, "not the first k of its operands");
    auto name = dyn_cast<FlatSymbolRefAttr>(computations[0]);
    auto comparator = name ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name) : func::FuncOp();
    if (!comparator || !comparator.getBody().hasOneBlock() || comparator.getNumArguments() != 2 * count)
      return rewriter.notifyMatchFailure(op, "has no comparator");
    ValueRange operands = op.getInputs().take_front(count);
    for (auto [operand, result] : llvm::zip_equal(operands, op.getResults())) {
      auto from = dyn_cast<RankedTensorType>(operand.getType()),
           to = dyn_cast<RankedTensorType>(result.getType());
      if (!from || !to || dim.getInt() < 0 || dim.getInt() >= from.getRank() ||
          to.getRank() != from.getRank() || to.getDimSize(dim.getInt()) != k.getInt() ||
          k.getInt() > from.getDimSize(dim.getInt()))
        return rewriter.notifyMatchFailure(op, "not the first k of its operands");
    }

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto sort = stablehlo::SortOp::create(b, operands.getTypes(), operands, dim.getInt(), /*is_stable=*/true);
    IRMapping mapping;
    comparator.getBody().cloneInto(&sort.getComparator(), mapping);
    Operation *end = sort.getComparator().front().getTerminator();
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(end);
      stablehlo::ReturnOp::create(b, end->getOperands());
    }
    rewriter.eraseOp(end);
    SmallVector<Value> results;
    for (auto [sorted, result] : llvm::zip_equal(sort.getResults(), op.getResults())) {
      auto to = cast<RankedTensorType>(result.getType());
      results.push_back(stablehlo::SliceOp::create(b, to, sorted, SmallVector<int64_t>(to.getRank(), 0),
                                                   to.getShape(), SmallVector<int64_t>(to.getRank(), 1)));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void populateKnownCallExpansions(RewritePatternSet &patterns) {
  patterns.add<AnnotationPattern, ShapeAssertionPattern, TopKCallPattern, ApproxTopKPattern>(
      patterns.getContext());
}

} // namespace cgx
