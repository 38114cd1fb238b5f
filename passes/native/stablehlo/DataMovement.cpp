//===-- DataMovement.cpp - Broadcast, transpose, reshape, reverse, concatenate, pad -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace cgx {
namespace {

struct BroadcastInDimPattern : OpConversionPattern<stablehlo::BroadcastInDimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::BroadcastInDimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    ArrayRef<int64_t> dims = op.getBroadcastDimensions();
    Value operand = adaptor.getOperand();
    auto from = cast<RankedTensorType>(operand.getType());
    // Nothing is repeated if only extents of 1 are new.
    if (llvm::is_sorted(dims) && from.getNumElements() == type.getNumElements()) {
      rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), operand, type.getShape()));
      return success();
    }
    // An extent of 1 that grows is dropped: projections fuse, constant indices do not.
    auto grows = [&](int64_t dim) { return from.getDimSize(dim) == 1 && type.getDimSize(dims[dim]) != 1; };
    SmallVector<AffineExpr> read;
    for (auto [dim, to] : llvm::enumerate(dims))
      if (!grows(dim))
        read.push_back(rewriter.getAffineDimExpr(to));
    operand = withoutUnitDims(rewriter, op.getLoc(), operand, grows);
    int64_t rank = type.getRank();
    AffineMap maps[] = {AffineMap::get(rank, 0, read, rewriter.getContext()),
                        rewriter.getMultiDimIdentityMap(rank)};
    Value empty = emptyTensor(rewriter, op.getLoc(), type);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{type}, ValueRange{operand}, ValueRange{empty}, maps, parallel(rank),
        [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args[0]); });
    return success();
  }
};

struct TransposePattern : OpConversionPattern<stablehlo::TransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::TransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), adaptor.getOperand(), op.getPermutation()));
    return success();
  }
};

struct ReshapePattern : OpConversionPattern<stablehlo::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReshapeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
    rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), adaptor.getOperand(), shape));
    return success();
  }
};

struct ReversePattern : OpConversionPattern<stablehlo::ReverseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReverseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value operand = adaptor.getOperand();
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t rank = type.getRank();
    AffineMap identity[] = {rewriter.getMultiDimIdentityMap(rank)};
    Value empty = emptyTensor(rewriter, op.getLoc(), type);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{type}, ValueRange(), ValueRange{empty}, identity, parallel(rank),
        [&](OpBuilder &b, Location loc, ValueRange) {
          SmallVector<Value> indices;
          for (int64_t dim = 0; dim < rank; ++dim) {
            Value index = linalg::IndexOp::create(b, loc, dim);
            if (llvm::is_contained(op.getDimensions(), dim))
              index = arith::SubIOp::create(b, loc, constantIndex(b, loc, type.getDimSize(dim) - 1), index);
            indices.push_back(index);
          }
          linalg::YieldOp::create(b, loc, ValueRange{tensor::ExtractOp::create(b, loc, operand, indices)});
        });
    return success();
  }
};

/// The number of parts beyond which a concatenation is one operation: bufferization compares each slice with
/// all others.
constexpr size_t mostSlices = 8;

struct ConcatenatePattern : OpConversionPattern<stablehlo::ConcatenateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ConcatenateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    Value result = emptyTensor(rewriter, op.getLoc(), type);
    if (adaptor.getOperands().size() > mostSlices) {
      SmallVector<Value> parts = llvm::filter_to_vector(adaptor.getOperands(), [](Value part) {
        return cast<RankedTensorType>(part.getType()).getNumElements() > 0;
      });
      rewriter.replaceOpWithNewOp<rt::ConcatenateOp>(op, type, rewriter.getI64IntegerAttr(op.getDimension()),
                                                     parts, result);
      return success();
    }
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
        strides(type.getRank(), rewriter.getIndexAttr(1));
    int64_t offset = 0;
    for (Value part : adaptor.getOperands()) {
      auto partType = cast<RankedTensorType>(part.getType());
      offsets[op.getDimension()] = rewriter.getIndexAttr(offset);
      offset += partType.getDimSize(op.getDimension());
      if (partType.getNumElements() > 0)
        result = tensor::InsertSliceOp::create(
            rewriter, op.getLoc(), part, result, offsets,
            getAsIndexOpFoldResult(rewriter.getContext(), partType.getShape()), strides);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// An op without effects whose results have no elements -> empty. Slices of nothing at the end of a
/// dimension, of which lax.associative_scan prints many, have no offset that upstream's ops accept.
struct NothingPattern : ConversionPattern {
  NothingPattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/10, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value>,
                                ConversionPatternRewriter &rewriter) const override {
    auto isNothing = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
    };
    if (!isa_and_nonnull<stablehlo::StablehloDialect, chlo::ChloDialect>(op->getDialect()) ||
        op->getNumResults() == 0 || !llvm::all_of(op->getResultTypes(), isNothing) || !isMemoryEffectFree(op))
      return failure();
    SmallVector<Value> results;
    for (Type type : op->getResultTypes())
      results.push_back(
          emptyTensor(rewriter, op->getLoc(), cast<RankedTensorType>(getTypeConverter()->convertType(type))));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void populateDataMovementPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<BroadcastInDimPattern, TransposePattern, ReshapePattern, ReversePattern, ConcatenatePattern,
               NothingPattern>(converter, patterns.getContext());
}

} // namespace cgx
