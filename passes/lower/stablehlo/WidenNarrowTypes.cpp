//===-- WidenNarrowTypes.cpp - Sums of types that processors do not have ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------===//
//
// What adds up many elements does so in f32, or i32, and rounds once: a sum of ones in f8E4M3FN that is
// rounded after each addition never exceeds 16.
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

/// Libraries know no floats of 16 bits.
bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

/// Whether `OpTy` is not computed in the element type.
template <typename OpTy> bool isTooNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  bool isOfLibrary =
      std::is_same_v<OpTy, stablehlo::TriangularSolveOp> || std::is_same_v<OpTy, stablehlo::CholeskyOp>;
  return isNarrow(element) || (isOfLibrary && isHalf(element));
}

Type widened(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  bool isFloat = isa<FloatType>(tensor.getElementType());
  MLIRContext *context = type.getContext();
  return tensor.clone(isFloat ? Type(Float32Type::get(context)) : Type(IntegerType::get(context, 32)));
}

/// Whether all that the region does means the same for wider elements.
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
