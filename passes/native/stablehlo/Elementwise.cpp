//===-- Elementwise.cpp - Elementwise operations, constants, iota -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "NarrowTypes.h"
#include "Scalar.h"
#include "ScalarConvert.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace cgx {
namespace {

/// add(x, y) -> generic { addf }. Operands of rank 0 (of select and clamp) are read
/// at every element.
struct ElementwisePattern : ConversionPattern {
  ElementwisePattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op->getResult(0).getType()));
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "dynamic shape");
    int64_t rank = type.getRank();
    SmallVector<AffineMap> maps;
    for (Value operand : operands) {
      auto operandType = cast<RankedTensorType>(operand.getType());
      if (operandType.getRank() != rank && operandType.getRank() != 0)
        return rewriter.notifyMatchFailure(op, "changes the shape");
      maps.push_back(operandType.getRank() == rank ? rewriter.getMultiDimIdentityMap(rank)
                                                   : AffineMap::get(rank, 0, rewriter.getContext()));
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(rank));
    bool emitted = true;
    Value empty = emptyTensor(rewriter, op->getLoc(), type);
    auto generic =
        linalg::GenericOp::create(rewriter, op->getLoc(), TypeRange{type}, operands, ValueRange{empty}, maps,
                                  parallel(rank), [&](OpBuilder &b, Location loc, ValueRange arguments) {
                                    Value result = emitScalar(b, op, arguments.drop_back());
                                    emitted = result != nullptr;
                                    linalg::YieldOp::create(b, loc, emitted ? result : arguments.back());
                                  });
    if (!emitted) {
      rewriter.eraseOp(generic);
      return rewriter.notifyMatchFailure(op, "not defined for this element type");
    }
    rewriter.replaceOp(op, generic);
    return success();
  }
};

/// Lowers bitcasts between elements of different widths: bitcast_convert(x) -> generic { shift, truncate }
/// splits elements, and generic { extend, shift, or } joins them, the first being the lowest bits.
struct BitcastShapePattern : OpConversionPattern<stablehlo::BitcastConvertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::BitcastConvertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value operand = adaptor.getOperand();
    auto from = cast<RankedTensorType>(op.getOperand().getType()),
         original = cast<RankedTensorType>(op.getType());
    auto to = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    Type fromElement = from.getElementType(), toElement = original.getElementType();
    if (!fromElement.isIntOrFloat() || !toElement.isIntOrFloat() || !to.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "not numbers of static shape");
    unsigned fromWidth = fromElement.getIntOrFloatBitWidth(), toWidth = toElement.getIntOrFloatBitWidth();
    int64_t rank = to.getRank();
    if (std::abs(from.getRank() - rank) != 1)
      return rewriter.notifyMatchFailure(op, "keeps the shape");
    AffineMap identity[] = {rewriter.getMultiDimIdentityMap(rank)};
    Value empty = emptyTensor(rewriter, op.getLoc(), to);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{to}, ValueRange(), ValueRange{empty}, identity, parallel(rank),
        [&](OpBuilder &builder, Location loc, ValueRange) {
          ImplicitLocOpBuilder b(loc, builder);
          SmallVector<Value> at;
          for (int64_t dim = 0; dim < rank; ++dim)
            at.push_back(linalg::IndexOp::create(b, dim));
          Value bits = fromWidth > toWidth ? part(b, operand, fromElement, at, toWidth)
                                           : whole(b, operand, fromElement, at, toWidth);
          linalg::YieldOp::create(b, storedOfBits(b, bits, toElement));
        });
    return success();
  }

  static Value bitsAt(ImplicitLocOpBuilder &b, Value tensor, Type original, ValueRange at) {
    return bitsOfStored(b, tensor::ExtractOp::create(b, tensor, at), original);
  }

  /// Returns one part of an element; the last index says which.
  static Value part(ImplicitLocOpBuilder &b, Value tensor, Type original, ArrayRef<Value> at,
                    unsigned width) {
    Value bits = bitsAt(b, tensor, original, at.drop_back());
    Value number = arith::IndexCastUIOp::create(b, b.getI64Type(), at.back());
    Value shift = arith::MulIOp::create(b, number, arith::ConstantIntOp::create(b, width, 64));
    unsigned fromWidth = bits.getType().getIntOrFloatBitWidth();
    if (fromWidth < 64)
      shift = arith::TruncIOp::create(b, bits.getType(), shift);
    return arith::TruncIOp::create(b, b.getIntegerType(width), arith::ShRUIOp::create(b, bits, shift));
  }

  static Value whole(ImplicitLocOpBuilder &b, Value tensor, Type original, ArrayRef<Value> at,
                     unsigned width) {
    auto type = cast<RankedTensorType>(tensor.getType());
    Type wide = b.getIntegerType(width);
    Value bits = arith::ConstantOp::create(b, b.getIntegerAttr(wide, 0));
    SmallVector<Value> indices(at);
    indices.emplace_back();
    for (int64_t number = 0; number < type.getShape().back(); ++number) {
      indices.back() = constantIndex(b, b.getLoc(), number);
      Value element = arith::ExtUIOp::create(b, wide, bitsAt(b, tensor, original, indices));
      Value shift = arith::ConstantOp::create(
          b, b.getIntegerAttr(wide, number * static_cast<int64_t>(original.getIntOrFloatBitWidth())));
      bits = arith::OrIOp::create(b, bits, arith::ShLIOp::create(b, element, shift));
    }
    return bits;
  }
};

/// map(x, y) { region } -> generic { region }
struct MapPattern : OpConversionPattern<stablehlo::MapOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::MapOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    SmallVector<AffineMap> maps(adaptor.getInputs().size() + 1,
                                rewriter.getMultiDimIdentityMap(type.getRank()));
    Value empty = emptyTensor(rewriter, op.getLoc(), type);
    bool emitted = true;
    auto generic = linalg::GenericOp::create(
        rewriter, op.getLoc(), TypeRange{type}, adaptor.getInputs(), ValueRange{empty}, maps,
        parallel(type.getRank()), [&](OpBuilder &b, Location loc, ValueRange arguments) {
          FailureOr<SmallVector<Value>> result =
              emitScalarRegion(b, op.getComputation(), arguments.drop_back());
          emitted = succeeded(result);
          linalg::YieldOp::create(b, loc, emitted ? result->front() : arguments.back());
        });
    if (!emitted) {
      rewriter.eraseOp(generic);
      return rewriter.notifyMatchFailure(op, "the region is not elementwise");
    }
    rewriter.replaceOp(op, generic);
    return success();
  }
};

/// The number of elements beyond which a constant of equal ones is written at run time: otherwise the library
/// would contain all of them.
constexpr int64_t mostElementsOfSplat = 4096;

void replaceByConstant(Operation *op, DenseElementsAttr value, ConversionPatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!value.isSplat() || type.getNumElements() <= mostElementsOfSplat) {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, value);
    return;
  }
  // constant(x, shape) -> broadcast(constant(x))
  Value scalar = arith::ConstantOp::create(
      rewriter, op->getLoc(), value.resizeSplat(RankedTensorType::get({}, type.getElementType())));
  int64_t rank = type.getRank();
  AffineMap maps[] = {AffineMap::get(rank, 0, rewriter.getContext()), rewriter.getMultiDimIdentityMap(rank)};
  Value empty = emptyTensor(rewriter, op->getLoc(), type);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, TypeRange{type}, ValueRange{scalar}, ValueRange{empty}, maps, parallel(rank),
      [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args[0]); });
}

template <typename OpTy> struct ConstantPattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(this->getTypeConverter()->convertType(op.getType()));
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!value || !type.getElementType().isIntOrFloat())
      return rewriter.notifyMatchFailure(op, "not a dense constant of numbers");
    replaceByConstant(op, toStorage(value), rewriter);
    return success();
  }
};

/// One value in the shape of the operand, whose elements do not matter.
struct ConstantLikePattern : OpConversionPattern<chlo::ConstantLikeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(chlo::ConstantLikeOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
      return rewriter.notifyMatchFailure(op, "not numbers of static shape");
    auto value = DenseElementsAttr::get(cast<ShapedType>(op.getType()), cast<Attribute>(op.getValue()));
    replaceByConstant(op, toStorage(value), rewriter);
    return success();
  }
};

struct IotaPattern : OpConversionPattern<stablehlo::IotaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::IotaOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isIntOrFloat())
      return rewriter.notifyMatchFailure(op, "not a number");
    int64_t rank = type.getRank();
    AffineMap identity[] = {rewriter.getMultiDimIdentityMap(rank)};
    Value empty = emptyTensor(rewriter, op.getLoc(), type);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{type}, ValueRange(), ValueRange{empty}, identity, parallel(rank),
        [&](OpBuilder &builder, Location loc, ValueRange) {
          ImplicitLocOpBuilder b(loc, builder);
          Type wide = b.getI64Type();
          Value index = linalg::IndexOp::create(b, op.getIotaDimension());
          Value number = arith::IndexCastOp::create(b, wide, index);
          linalg::YieldOp::create(b, convertScalar(b, number, wide, element));
        });
    return success();
  }
};

/// The barrier ordered XLA's rewrites; nothing here reorders effects.
struct OptimizationBarrierPattern : OpConversionPattern<stablehlo::OptimizationBarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::OptimizationBarrierOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getOperands());
    return success();
  }
};

} // namespace

void populateElementwisePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns
      .add<ElementwisePattern, BitcastShapePattern, MapPattern, ConstantPattern<stablehlo::ConstantOp>,
           ConstantPattern<chlo::ConstantOp>, ConstantLikePattern, IotaPattern, OptimizationBarrierPattern>(
          converter, patterns.getContext());
}

} // namespace cgx
