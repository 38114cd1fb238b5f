//===-- NormalizeHlo.cpp - converts ops of HLO and partitioners to StableHLO -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Sdy/SdyDialect.h"
#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/MhloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace cgx {
#define GEN_PASS_DEF_NORMALIZEHLOPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {

/// mhlo.f(x) -> chlo.f(x)
template <typename From, typename To> struct UnaryPattern : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op->getResultTypes(), op->getOperands());
    return success();
  }
};

/// Replaces an op by the k largest elements of its operand, k being the size of its first result.
LogicalResult replaceByTopK(Operation *op, PatternRewriter &rewriter) {
  auto from = op->getNumOperands() == 1 ? dyn_cast<RankedTensorType>(op->getOperand(0).getType())
                                        : RankedTensorType();
  auto to =
      op->getNumResults() == 2 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  if (!from || !to || from.getRank() == 0 || to.getRank() != from.getRank() || !to.hasStaticShape() ||
      to.getShape().drop_back() != from.getShape().drop_back() ||
      to.getShape().back() > from.getShape().back() || to.getElementType() != from.getElementType() ||
      op->getResult(1).getType() != to.clone(rewriter.getI32Type()))
    return rewriter.notifyMatchFailure(op, "not the largest of the last dimension");
  rewriter.replaceOpWithNewOp<chlo::TopKOp>(op, op->getResultTypes(), op->getOperand(0),
                                            static_cast<uint64_t>(to.getShape().back()));
  return success();
}

/// mhlo.topk(x, k) -> chlo.top_k(x, k)
struct TopKPattern : OpRewritePattern<mhlo::TopKOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mhlo::TopKOp op, PatternRewriter &rewriter) const override {
    if (!op.getLargest())
      return rewriter.notifyMatchFailure(op, "the smallest");
    return replaceByTopK(op, rewriter);
  }
};

/// custom_call @TopK(x) -> chlo.top_k(x, k). XLA makes such calls of sorts by > only, and does not read the
/// comparison that it names.
struct TopKCallPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (op.getCallTargetName() != "TopK")
      return rewriter.notifyMatchFailure(op, "another call");
    return replaceByTopK(op, rewriter);
  }
};

/// bitcast(x) -> from_memory(to_memory(x)), where to_memory is a transposition to the order of the operand's
/// layout, from_memory one back from that of the result's
struct BitcastPattern : OpRewritePattern<mhlo::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mhlo::BitcastOp op, PatternRewriter &rewriter) const override {
    auto from = dyn_cast<RankedTensorType>(op.getOperand().getType()),
         to = dyn_cast<RankedTensorType>(op.getResult().getType());
    if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape() ||
        from.getNumElements() != to.getNumElements() || !haveEqualWidth(from, to))
      return rewriter.notifyMatchFailure(op, "tensors of other sizes");
    std::optional<SmallVector<int64_t>> read = orderOf(op->getAttr("source_layout"), from.getRank()),
                                        written = orderOf(op->getAttr("result_layout"), to.getRank());
    if (!read || !written)
      return rewriter.notifyMatchFailure(op, "not a layout of whole dimensions");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value value = op.getOperand();
    if (from.getElementType() != to.getElementType())
      value = stablehlo::BitcastConvertOp::create(b, from.clone(to.getElementType()), value);
    value = transpose(b, value, *read);
    RankedTensorType inMemory = permute(to, *written);
    if (value.getType() != inMemory)
      value = stablehlo::ReshapeOp::create(b, inMemory, value);
    SmallVector<int64_t> back(written->size());
    for (auto [i, dim] : llvm::enumerate(*written))
      back[dim] = i;
    rewriter.replaceOp(op, transpose(b, value, back));
    return success();
  }

  static bool haveEqualWidth(RankedTensorType a, RankedTensorType b) {
    Type x = a.getElementType(), y = b.getElementType();
    return x == y ||
           (x.isIntOrFloat() && y.isIntOrFloat() && x.getIntOrFloatBitWidth() == y.getIntOrFloatBitWidth());
  }

  /// Returns the dimensions from major to minor of a layout, which lists them the other way round.
  static std::optional<SmallVector<int64_t>> orderOf(Attribute layout, int64_t rank) {
    auto numbers = dyn_cast_or_null<DenseIntElementsAttr>(layout);
    if (layout && (!numbers || numbers.getNumElements() != rank))
      return std::nullopt;
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    if (!layout)
      return order;
    llvm::SmallBitVector seen(rank);
    for (auto [i, number] : llvm::enumerate(numbers.getValues<APInt>())) {
      int64_t dim = number.getSExtValue();
      if (dim < 0 || dim >= rank || seen.test(dim))
        return std::nullopt;
      seen.set(dim);
      order[rank - 1 - i] = dim;
    }
    return order;
  }

  static RankedTensorType permute(RankedTensorType type, ArrayRef<int64_t> order) {
    return type.clone(llvm::map_to_vector(order, [&](int64_t dim) { return type.getDimSize(dim); }));
  }

  static Value transpose(ImplicitLocOpBuilder &b, Value value, ArrayRef<int64_t> order) {
    if (llvm::is_sorted(order))
      return value;
    auto type = permute(cast<RankedTensorType>(value.getType()), order);
    return stablehlo::TransposeOp::create(b, type, value, order);
  }
};

/// sdy.constant -> constant
struct ConstantPattern : OpRewritePattern<sdy::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sdy::ConstantOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, op.getType(), op.getValue());
    return success();
  }
};

/// f(x) -> x
template <typename OpTy> struct MarkPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op->getOperands());
    return success();
  }
};

/// Puts the one block of an op in its place.
void inlineRegion(RewriterBase &rewriter, Operation *op) {
  Block *body = &op->getRegion(0).front();
  Operation *end = body->getTerminator();
  SmallVector<Value> results(end->getOperands());
  for (Value &result : results)
    if (auto argument = dyn_cast<BlockArgument>(result); argument && argument.getOwner() == body)
      result = op->getOperand(argument.getArgNumber());
  rewriter.eraseOp(end);
  rewriter.inlineBlockBefore(body, op, op->getOperands());
  rewriter.replaceOp(op, results);
}

struct NormalizeHloPass : cgx::impl::NormalizeHloPassBase<NormalizeHloPass> {
  void runOnOperation() final {
    MLIRContext *context = &getContext();
    // Inner ones first, as walks go.
    IRRewriter rewriter(context);
    getOperation().walk([&](Operation *op) {
      if (isa<mhlo::FusionOp, sdy::NamedComputationOp>(op))
        inlineRegion(rewriter, op);
    });
    RewritePatternSet patterns(context);
    patterns.add<UnaryPattern<mhlo::AcosOp, chlo::AcosOp>, UnaryPattern<mhlo::AcoshOp, chlo::AcoshOp>,
                 UnaryPattern<mhlo::AsinOp, chlo::AsinOp>, UnaryPattern<mhlo::AsinhOp, chlo::AsinhOp>,
                 UnaryPattern<mhlo::AtanhOp, chlo::AtanhOp>, UnaryPattern<mhlo::CoshOp, chlo::CoshOp>,
                 UnaryPattern<mhlo::ErfOp, chlo::ErfOp>, UnaryPattern<mhlo::SinhOp, chlo::SinhOp>,
                 TopKPattern, TopKCallPattern, BitcastPattern, ConstantPattern, MarkPattern<mhlo::CopyOp>,
                 MarkPattern<sdy::DataFlowEdgeOp>, MarkPattern<sdy::FuncDataFlowEdgeOp>,
                 MarkPattern<sdy::PropagationBarrierOp>>(context);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
