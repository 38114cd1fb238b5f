//===-- WidenNarrowTypes.cpp - Sums of types that processors do not have ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------===//
//
// Ops that add up many elements do so in f32, or i32, and round once: a sum of ones that is rounded after
// each addition never exceeds 16 in f8E4M3FN, 256 in bf16 and 2048 in f16.
//
//===------------------------------------------------------------------------------===//
#include "Expansions.h"
#include "NarrowTypes.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace cgx {
namespace {

/// Returns whether the type is a 16-bit float, which libraries do not support.
bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

/// Returns whether `OpTy` must not be computed in the element type. Products of halves are exempt: their
/// lowering accumulates in f32.
template <typename OpTy> bool isTooNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  bool isProduct =
      std::is_same_v<OpTy, stablehlo::DotGeneralOp> || std::is_same_v<OpTy, stablehlo::ConvolutionOp>;
  return isNarrow(element) || (!isProduct && isHalf(element));
}

/// Returns whether rounding after each step would lose digits. Minimum and maximum never lose any.
bool rounds(Operation *op) {
  return op->getNumRegions() == 0 || llvm::any_of(op->getRegion(0).getOps(), [](Operation &inner) {
           return isa<stablehlo::AddOp, stablehlo::MulOp>(inner);
         });
}

Type widened(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  bool isFloat = isa<FloatType>(tensor.getElementType());
  MLIRContext *context = type.getContext();
  return tensor.clone(isFloat ? Type(Float32Type::get(context)) : Type(IntegerType::get(context, 32)));
}

/// Returns whether all ops of the region mean the same for wider elements.
bool canWiden(Region &region) {
  using namespace stablehlo;
  return llvm::all_of(region.getOps(), [](Operation &op) {
    return isa<AddOp, MulOp, MaxOp, MinOp, SelectOp, CompareOp, AndOp, OrOp, ReturnOp>(op);
  });
}

/// op(x) -> convert(op(convert(x)))
template <typename OpTy> struct WidenPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (llvm::none_of(op->getOperandTypes(), isTooNarrow<OpTy>) &&
        llvm::none_of(op->getResultTypes(), isTooNarrow<OpTy>))
      return rewriter.notifyMatchFailure(op, "no narrow elements");
    if (!rounds(op) &&
        llvm::none_of(op->getOperandTypes(), [](Type type) { return isNarrow(getElementTypeOrSelf(type)); }))
      return rewriter.notifyMatchFailure(op, "nothing is rounded");
    if (!llvm::all_of(op->getRegions(), canWiden))
      return rewriter.notifyMatchFailure(op, "the region is not one of sums");
    rewriter.modifyOpInPlace(op, [&] {
      for (OpOperand &operand : op->getOpOperands())
        if (isTooNarrow<OpTy>(operand.get().getType()))
          operand.set(stablehlo::ConvertOp::create(rewriter, op.getLoc(), widened(operand.get().getType()),
                                                   operand.get()));
      auto widen = [](Value value) {
        if (isTooNarrow<OpTy>(value.getType()))
          value.setType(widened(value.getType()));
      };
      for (Region &region : op->getRegions())
        region.walk([&](Block *block) {
          llvm::for_each(block->getArguments(), widen);
          for (Operation &inner : *block)
            llvm::for_each(inner.getResults(), widen);
        });
    });
    rewriter.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type type = result.getType();
      if (!isTooNarrow<OpTy>(type))
        continue;
      result.setType(widened(type));
      auto narrow = stablehlo::ConvertOp::create(rewriter, op.getLoc(), type, result);
      rewriter.replaceAllUsesExcept(result, narrow, narrow);
    }
    return success();
  }
};

} // namespace

void populateNarrowTypeExpansions(RewritePatternSet &set) {
  set.add<WidenPattern<stablehlo::DotGeneralOp>, WidenPattern<stablehlo::ConvolutionOp>,
          WidenPattern<stablehlo::ReduceOp>, WidenPattern<stablehlo::ReduceWindowOp>,
          WidenPattern<stablehlo::TriangularSolveOp>, WidenPattern<stablehlo::CholeskyOp>>(set.getContext());
}

} // namespace cgx
