//===-- BatchNorm.cpp - Batch normalization, written out -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Expansions.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

using namespace mlir;

namespace cgx {
namespace {

/// Arithmetic on tensors like the operand of a normalization. Narrow floats are computed with in f32, so that
/// sums over the batch keep their digits.
class Normalization {
public:
  Normalization(ImplicitLocOpBuilder &b, Value operand, int64_t feature, double epsilon)
      : b(b), feature(feature), epsilon(epsilon) {
    auto given = cast<RankedTensorType>(operand.getType());
    narrow = given.getElementType();
    type = given.clone(narrow.getIntOrFloatBitWidth() < 32 ? b.getF32Type() : narrow);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != feature)
        others.push_back(dim);
    perFeature = RankedTensorType::get({type.getDimSize(feature)}, type.getElementType());
    count = static_cast<double>(type.getNumElements()) / static_cast<double>(type.getDimSize(feature));
  }

  static bool applies(Type operand) {
    auto type = dyn_cast<RankedTensorType>(operand);
    return type && type.hasStaticShape() && isa<FloatType>(type.getElementType());
  }

  Value widened(Value value) { return withElement(value, type.getElementType()); }
  Value narrowed(Value value) { return withElement(value, narrow); }

  Value add(Value x, Value y) { return stablehlo::AddOp::create(b, x.getType(), x, y); }
  Value subtract(Value x, Value y) { return stablehlo::SubtractOp::create(b, x.getType(), x, y); }
  Value multiply(Value x, Value y) { return stablehlo::MulOp::create(b, x.getType(), x, y); }
  Value divide(Value x, Value y) { return stablehlo::DivOp::create(b, x.getType(), x, y); }
  Value number(Value like, double value) { return splatOf(b, cast<RankedTensorType>(like.getType()), value); }

  /// Returns a value for each feature, at every place of the batch.
  Value spread(Value value) { return stablehlo::BroadcastInDimOp::create(b, type, value, feature); }
  Value sum(Value value) { return sumOver(b, value, others); }
  Value mean(Value value) {
    Value total = sum(value);
    return divide(total, number(total, count));
  }
  /// Returns the standard deviation of each feature.
  Value deviation(Value variance) {
    Value shifted = add(variance, number(variance, epsilon));
    return stablehlo::SqrtOp::create(b, TypeRange{shifted.getType()}, ValueRange{shifted})->getResult(0);
  }
  Value normalized(Value operand, Value scale, Value offset, Value mean, Value variance) {
    Value standard = divide(subtract(operand, spread(mean)), spread(deviation(variance)));
    return add(multiply(standard, spread(scale)), spread(offset));
  }

  RankedTensorType type, perFeature;
  double count; // elements of a feature

private:
  Value withElement(Value value, Type element) {
    auto from = cast<RankedTensorType>(value.getType());
    if (from.getElementType() == element)
      return value;
    return stablehlo::ConvertOp::create(b, from.clone(element), value);
  }

  ImplicitLocOpBuilder &b;
  int64_t feature;
  double epsilon;
  Type narrow;
  SmallVector<int64_t> others;
};

/// batch_norm_inference(x) -> (x - mean) / sqrt(variance + epsilon) * scale + offset
struct BatchNormInferencePattern : OpRewritePattern<stablehlo::BatchNormInferenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::BatchNormInferenceOp op,
                                PatternRewriter &rewriter) const override {
    if (!Normalization::applies(op.getOperand().getType()))
      return rewriter.notifyMatchFailure(op, "not of static shape");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Normalization n(b, op.getOperand(), op.getFeatureIndex(), op.getEpsilon().convertToFloat());
    rewriter.replaceOp(op, n.narrowed(n.normalized(n.widened(op.getOperand()), n.widened(op.getScale()),
                                                   n.widened(op.getOffset()), n.widened(op.getMean()),
                                                   n.widened(op.getVariance()))));
    return success();
  }
};

/// Expands the training form, whose results include the mean and the variance of the batch.
struct BatchNormTrainingPattern : OpRewritePattern<stablehlo::BatchNormTrainingOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::BatchNormTrainingOp op, PatternRewriter &rewriter) const override {
    if (!Normalization::applies(op.getOperand().getType()))
      return rewriter.notifyMatchFailure(op, "not of static shape");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Normalization n(b, op.getOperand(), op.getFeatureIndex(), op.getEpsilon().convertToFloat());
    Value operand = n.widened(op.getOperand()), mean = n.mean(operand);
    Value centered = n.subtract(operand, n.spread(mean));
    Value variance = n.mean(n.multiply(centered, centered));
    Value result = n.normalized(operand, n.widened(op.getScale()), n.widened(op.getOffset()), mean, variance);
    rewriter.replaceOp(op, {n.narrowed(result), n.narrowed(mean), n.narrowed(variance)});
    return success();
  }
};

/// Expands the gradient. With c = x - mean, s = sqrt(variance + epsilon) and N elements of each feature:
/// offset: sum(dy), scale: sum(dy c / s), operand: scale / s / N (N dy - sum(dy) - c sum(dy c) / s^2)
struct BatchNormGradPattern : OpRewritePattern<stablehlo::BatchNormGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::BatchNormGradOp op, PatternRewriter &rewriter) const override {
    if (!Normalization::applies(op.getOperand().getType()))
      return rewriter.notifyMatchFailure(op, "not of static shape");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    double epsilon = op.getEpsilon().convertToFloat();
    Normalization n(b, op.getOperand(), op.getFeatureIndex(), epsilon);
    Value gradient = n.widened(op.getGradOutput()), variance = n.widened(op.getVariance());
    Value centered = n.subtract(n.widened(op.getOperand()), n.spread(n.widened(op.getMean())));
    Value deviation = n.deviation(variance), offset = n.sum(gradient);
    Value projection = n.sum(n.multiply(gradient, centered));
    Value shifted = n.add(variance, n.number(variance, epsilon));
    Value along = n.multiply(centered, n.spread(n.divide(projection, shifted)));
    Value inner =
        n.subtract(n.subtract(n.multiply(gradient, n.number(gradient, n.count)), n.spread(offset)), along);
    Value factor = n.divide(n.widened(op.getScale()), n.multiply(deviation, n.number(deviation, n.count)));
    Value operand = n.multiply(n.spread(factor), inner);
    rewriter.replaceOp(
        op, {n.narrowed(operand), n.narrowed(n.divide(projection, deviation)), n.narrowed(offset)});
    return success();
  }
};

} // namespace

void populateBatchNormExpansions(RewritePatternSet &patterns) {
  patterns.add<BatchNormInferencePattern, BatchNormTrainingPattern, BatchNormGradPattern>(
      patterns.getContext());
}

} // namespace cgx
