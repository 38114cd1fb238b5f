//===-- Slices.cpp - Slices, updates of slices, padding -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace cgx {
namespace {

SmallVector<OpFoldResult> indices(Builder &b, ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(b.getContext(), values);
}

SmallVector<OpFoldResult> ones(Builder &b, int64_t rank) {
  return SmallVector<OpFoldResult>(rank, b.getIndexAttr(1));
}

struct SlicePattern : OpConversionPattern<stablehlo::SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::SliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, type, adaptor.getOperand(), indices(rewriter, op.getStartIndices()),
        indices(rewriter, type.getShape()), indices(rewriter, op.getStrides()));
    return success();
  }
};

/// Returns start indices that are moved so that the slice lies within the operand.
SmallVector<OpFoldResult> clampedStarts(OpBuilder &b, Location loc, ValueRange originals, ValueRange starts,
                                        ArrayRef<int64_t> operandShape, ArrayRef<int64_t> sliceShape) {
  SmallVector<OpFoldResult> offsets;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    Value index = indexOf(b, loc, scalarOf(b, loc, start), getElementTypeOrSelf(originals[dim].getType()));
    offsets.push_back(clampedIndex(b, loc, index, operandShape[dim] - sliceShape[dim]));
  }
  return offsets;
}

struct DynamicSlicePattern : OpConversionPattern<stablehlo::DynamicSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    auto from = cast<RankedTensorType>(adaptor.getOperand().getType());
    SmallVector<OpFoldResult> offsets =
        clampedStarts(rewriter, op.getLoc(), op.getStartIndices(), adaptor.getStartIndices(), from.getShape(),
                      type.getShape());
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, adaptor.getOperand(), offsets,
                                                        indices(rewriter, type.getShape()),
                                                        ones(rewriter, type.getRank()));
    return success();
  }
};

struct DynamicUpdateSlicePattern : OpConversionPattern<stablehlo::DynamicUpdateSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicUpdateSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
    auto update = cast<RankedTensorType>(adaptor.getUpdate().getType());
    if (update.getNumElements() == 0) {
      rewriter.replaceOp(op, adaptor.getOperand());
      return success();
    }
    SmallVector<OpFoldResult> offsets =
        clampedStarts(rewriter, op.getLoc(), op.getStartIndices(), adaptor.getStartIndices(), type.getShape(),
                      update.getShape());
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, adaptor.getUpdate(), adaptor.getOperand(), offsets,
                                                       indices(rewriter, update.getShape()),
                                                       ones(rewriter, type.getRank()));
    return success();
  }
};

struct PadPattern : OpConversionPattern<stablehlo::PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::PadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value scalar = scalarOf(rewriter, op.getLoc(), adaptor.getPaddingValue());
    rewriter.replaceOp(op, padded(rewriter, op.getLoc(), adaptor.getOperand(), scalar, op.getEdgePaddingLow(),
                                  op.getEdgePaddingHigh(), op.getInteriorPadding()));
    return success();
  }
};

} // namespace

void populateSlicePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<SlicePattern, DynamicSlicePattern, DynamicUpdateSlicePattern, PadPattern>(
      converter, patterns.getContext());
}

} // namespace cgx
