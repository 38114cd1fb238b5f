//===-- StaticForms.cpp - Dynamic operations whose operands are known -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// A frontend that refines symbolic shapes leaves operations with operands that by then are numbers, or follow
// from types. The numbers are computed from constants and the extents of tensors; an operation for which that
// fails stays, and the lowering names it.
//
//===----------------------------------------------------------------------------===//
#include "Expansions.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace cgx {
namespace {

/// The limits of evaluation: shapes, and the values that they are computed from, are short.
constexpr int64_t maxElements = 256;
constexpr unsigned maxDepth = 64;

using Integers = SmallVector<int64_t>;

std::optional<Integers> evaluate(Value value, unsigned depth = 0);

/// Returns the elements of a constant of integers.
std::optional<Integers> elementsOf(stablehlo::ConstantOp constant) {
  auto value = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!value || value.getElementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  Integers elements;
  bool isUnsigned = value.getElementType().isUnsignedInteger() || value.getElementType().isInteger(1);
  for (const APInt &element : value.getValues<APInt>())
    elements.push_back(isUnsigned ? static_cast<int64_t>(element.getZExtValue()) : element.getSExtValue());
  return elements;
}

/// Combines two equally long operands element by element.
std::optional<Integers> combine(Operation *op, unsigned depth,
                                function_ref<std::optional<int64_t>(int64_t, int64_t)> function) {
  std::optional<Integers> lhs = evaluate(op->getOperand(0), depth), rhs = evaluate(op->getOperand(1), depth);
  if (!lhs || !rhs || lhs->size() != rhs->size())
    return std::nullopt;
  Integers result;
  for (auto [x, y] : llvm::zip_equal(*lhs, *rhs)) {
    std::optional<int64_t> element = function(x, y);
    if (!element)
      return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

std::optional<Integers> sliced(stablehlo::SliceOp op, unsigned depth) {
  std::optional<Integers> operand = evaluate(op.getOperand(), depth);
  if (!operand || cast<RankedTensorType>(op.getType()).getRank() != 1)
    return std::nullopt;
  Integers result;
  for (int64_t i = op.getStartIndices()[0]; i < op.getLimitIndices()[0]; i += op.getStrides()[0])
    result.push_back((*operand)[i]);
  return result;
}

std::optional<Integers> joined(stablehlo::ConcatenateOp op, unsigned depth) {
  Integers result;
  for (Value input : op.getInputs()) {
    std::optional<Integers> elements = evaluate(input, depth);
    if (!elements || cast<RankedTensorType>(input.getType()).getRank() != 1)
      return std::nullopt;
    llvm::append_range(result, *elements);
  }
  return result;
}

/// Returns the elements of a short tensor of integers, if they are known.
std::optional<Integers> evaluate(Value value, unsigned depth) {
  using namespace stablehlo;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || !type || !type.hasStaticShape() || type.getNumElements() > maxElements ||
      !type.getElementType().isIntOrIndex() || ++depth > maxDepth)
    return std::nullopt;
  using Known = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, std::optional<Integers>>(op)
      .Case([](ConstantOp op) { return elementsOf(op); })
      .Case([](GetDimensionSizeOp op) -> std::optional<Integers> {
        auto operand = cast<RankedTensorType>(op.getOperand().getType());
        int64_t dim = op.getDimension();
        if (dim < 0 || dim >= operand.getRank() || operand.isDynamicDim(dim))
          return std::nullopt;
        return Integers{operand.getDimSize(dim)};
      })
      .Case([&](ReshapeOp op) { return evaluate(op.getOperand(), depth); })
      .Case([&](ConvertOp op) { return evaluate(op.getOperand(), depth); })
      .Case([&](BroadcastInDimOp op) -> std::optional<Integers> {
        std::optional<Integers> operand = evaluate(op.getOperand(), depth);
        if (!operand || operand->size() != 1)
          return std::nullopt;
        return Integers(type.getNumElements(), operand->front());
      })
      .Case([&](ConcatenateOp op) { return joined(op, depth); })
      .Case([&](SliceOp op) { return sliced(op, depth); })
      .Case([&](AddOp op) { return combine(op, depth, [](int64_t x, int64_t y) -> Known { return x + y; }); })
      .Case([&](SubtractOp op) {
        return combine(op, depth, [](int64_t x, int64_t y) -> Known { return x - y; });
      })
      .Case([&](MulOp op) { return combine(op, depth, [](int64_t x, int64_t y) -> Known { return x * y; }); })
      .Case([&](DivOp op) {
        return combine(op, depth, [](int64_t x, int64_t y) { return y > 0 ? Known(x / y) : std::nullopt; });
      })
      .Case([&](RemOp op) {
        return combine(op, depth, [](int64_t x, int64_t y) { return y > 0 ? Known(x % y) : std::nullopt; });
      })
      .Case([&](MaxOp op) {
        return combine(op, depth, [](int64_t x, int64_t y) -> Known { return std::max(x, y); });
      })
      .Case([&](MinOp op) {
        return combine(op, depth, [](int64_t x, int64_t y) -> Known { return std::min(x, y); });
      })
      .Default(std::nullopt);
}

bool isStatic(Operation *op) {
  auto hasStaticShape = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), hasStaticShape) &&
         llvm::all_of(op->getResultTypes(), hasStaticShape);
}

constexpr StringLiteral dynamicShape = "its shape is not static";
constexpr StringLiteral unknownOperand = "its operands are not known before the program runs";

/// get_dimension_size(x) -> constant
struct GetDimensionSizePattern : OpRewritePattern<stablehlo::GetDimensionSizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::GetDimensionSizeOp op, PatternRewriter &rewriter) const override {
    std::optional<Integers> size = evaluate(op.getResult());
    auto type = cast<RankedTensorType>(op.getType());
    if (!size)
      return rewriter.notifyMatchFailure(op, dynamicShape);
    APInt number(type.getElementTypeBitWidth(), size->front(), /*isSigned=*/true);
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, type, DenseElementsAttr::get(type, number));
    return success();
  }
};

/// set_dimension_size(x, its extent) -> x
struct SetDimensionSizePattern : OpRewritePattern<stablehlo::SetDimensionSizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::SetDimensionSizeOp op, PatternRewriter &rewriter) const override {
    std::optional<Integers> size = evaluate(op.getSize());
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    if (!size || op.getType() != type || size->front() != type.getDimSize(op.getDimension()))
      return rewriter.notifyMatchFailure(op, unknownOperand);
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// dynamic_iota(shape) -> iota
struct DynamicIotaPattern : OpRewritePattern<stablehlo::DynamicIotaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicIotaOp op, PatternRewriter &rewriter) const override {
    if (!isStatic(op))
      return rewriter.notifyMatchFailure(op, dynamicShape);
    rewriter.replaceOpWithNewOp<stablehlo::IotaOp>(op, op.getType(), op.getIotaDimension());
    return success();
  }
};

/// dynamic_reshape(x, shape) -> reshape(x)
struct DynamicReshapePattern : OpRewritePattern<stablehlo::DynamicReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicReshapeOp op, PatternRewriter &rewriter) const override {
    if (!isStatic(op))
      return rewriter.notifyMatchFailure(op, dynamicShape);
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, op.getType(), op.getOperand());
    return success();
  }
};

/// dynamic_broadcast_in_dim(x, shape) -> broadcast_in_dim(x)
struct DynamicBroadcastInDimPattern : OpRewritePattern<stablehlo::DynamicBroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicBroadcastInDimOp op,
                                PatternRewriter &rewriter) const override {
    if (!isStatic(op))
      return rewriter.notifyMatchFailure(op, dynamicShape);
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(op, op.getType(), op.getOperand(),
                                                             op.getBroadcastDimensions());
    return success();
  }
};

/// dynamic_pad(x, value, constants) -> pad(x, value)
struct DynamicPadPattern : OpRewritePattern<stablehlo::DynamicPadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicPadOp op, PatternRewriter &rewriter) const override {
    std::optional<Integers> low = evaluate(op.getEdgePaddingLow()), high = evaluate(op.getEdgePaddingHigh()),
                            interior = evaluate(op.getInteriorPadding());
    if (!isStatic(op) || !low || !high || !interior)
      return rewriter.notifyMatchFailure(op, unknownOperand);
    rewriter.replaceOpWithNewOp<stablehlo::PadOp>(op, op.getType(), op.getOperand(), op.getPaddingValue(),
                                                  *low, *high, *interior);
    return success();
  }
};

/// dynamic_gather(x, i, constant) -> gather(x, i)
struct DynamicGatherPattern : OpRewritePattern<stablehlo::DynamicGatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicGatherOp op, PatternRewriter &rewriter) const override {
    std::optional<Integers> sizes = evaluate(op.getSliceSizes());
    if (!isStatic(op) || !sizes)
      return rewriter.notifyMatchFailure(op, unknownOperand);
    rewriter.replaceOpWithNewOp<stablehlo::GatherOp>(op, op.getType(), op.getOperand(), op.getStartIndices(),
                                                     op.getDimensionNumbers(), *sizes,
                                                     op.getIndicesAreSorted());
    return success();
  }
};

/// real_dynamic_slice(x, constants) -> slice(x); with unknown starts -> slice(dynamic_slice(x, starts)), the
/// inner one without and the outer one with the strides
struct RealDynamicSlicePattern : OpRewritePattern<stablehlo::RealDynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::RealDynamicSliceOp op, PatternRewriter &rewriter) const override {
    std::optional<Integers> starts = evaluate(op.getStartIndices()), limits = evaluate(op.getLimitIndices()),
                            strides = evaluate(op.getStrides());
    if (!isStatic(op) || !strides)
      return rewriter.notifyMatchFailure(op, unknownOperand);
    if (starts && limits) {
      rewriter.replaceOpWithNewOp<stablehlo::SliceOp>(op, op.getType(), op.getOperand(), *starts, *limits,
                                                      *strides);
      return success();
    }
    auto from = cast<RankedTensorType>(op.getOperand().getType()), to = cast<RankedTensorType>(op.getType());
    Integers sizes;
    for (auto [extent, stride, available] : llvm::zip_equal(to.getShape(), *strides, from.getShape())) {
      sizes.push_back(extent == 0 ? 0 : (extent - 1) * stride + 1);
      if (stride < 1 || sizes.back() > available)
        return rewriter.notifyMatchFailure(op, "more elements than the operand has");
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type index = getElementTypeOrSelf(op.getStartIndices());
    SmallVector<Value> scalars;
    for (int64_t dim = 0; dim < to.getRank(); ++dim) {
      Value start = stablehlo::SliceOp::create(b, RankedTensorType::get({1}, index), op.getStartIndices(),
                                               dim, dim + 1, int64_t(1));
      scalars.push_back(stablehlo::ReshapeOp::create(b, RankedTensorType::get({}, index), start));
    }
    auto whole = RankedTensorType::get(sizes, to.getElementType());
    Value slice = stablehlo::DynamicSliceOp::create(b, whole, op.getOperand(), scalars, sizes);
    if (whole != to)
      slice = stablehlo::SliceOp::create(b, to, slice, Integers(sizes.size(), 0), sizes, *strides);
    rewriter.replaceOp(op, slice);
    return success();
  }
};

/// dynamic_conv(x, w, constant) -> convolution(x, w)
struct DynamicConvPattern : OpRewritePattern<stablehlo::DynamicConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DynamicConvOp op, PatternRewriter &rewriter) const override {
    std::optional<Integers> padding = evaluate(op.getPadding());
    if (!isStatic(op) || !padding)
      return rewriter.notifyMatchFailure(op, unknownOperand);
    auto type = cast<RankedTensorType>(op.getPadding().getType()).clone(rewriter.getI64Type());
    rewriter.replaceOpWithNewOp<stablehlo::ConvolutionOp>(
        op, op.getType(), op.getLhs(), op.getRhs(), op.getWindowStridesAttr(),
        DenseIntElementsAttr::get(type, *padding), op.getLhsDilationAttr(), op.getRhsDilationAttr(),
        op.getWindowReversalAttr(), op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
        op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
    return success();
  }
};

/// broadcast(x, sizes) -> broadcast_in_dim to the last dimensions
struct BroadcastPattern : OpRewritePattern<stablehlo::BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::BroadcastOp op, PatternRewriter &rewriter) const override {
    int64_t leading = op.getBroadcastSizes().size();
    int64_t rank = cast<RankedTensorType>(op.getOperand().getType()).getRank();
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(
        op, op.getType(), op.getOperand(), llvm::to_vector(llvm::seq(leading, leading + rank)));
    return success();
  }
};

} // namespace

void populateStaticFormExpansions(RewritePatternSet &patterns) {
  patterns.add<GetDimensionSizePattern, SetDimensionSizePattern, DynamicIotaPattern, DynamicReshapePattern,
               DynamicBroadcastInDimPattern, DynamicPadPattern, DynamicGatherPattern, RealDynamicSlicePattern,
               DynamicConvPattern, BroadcastPattern>(patterns.getContext());
}

} // namespace cgx
