//===-- NormalizationVerifiers.cpp - verifiers of batch normalization and random numbers -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace cgx::stablehlo;

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

/// Verifies that `wholes` have the operand's type, and `features` one number per feature of it.
static LogicalResult verifyBatchNorm(Operation *op, Value operand, uint64_t featureIndex, ValueRange wholes,
                                     ValueRange features) {
  RankedTensorType type = tensorOf(operand);
  if (featureIndex >= static_cast<uint64_t>(type.getRank())) // (C1)
    return op->emitOpError() << "expected feature_index in range [0, " << type.getRank() << "), got "
                             << static_cast<int64_t>(featureIndex);
  for (Value whole : wholes)
    if (!isCompatibleElement(tensorOf(whole).getElementType(), type.getElementType()) ||
        failed(verifyCompatibleShape(tensorOf(whole).getShape(), type.getShape())))
      return op->emitOpError() << "expected operands and results of type " << type << ", got "
                               << whole.getType();
  RankedTensorType vector = RankedTensorType::get(type.getDimSize(featureIndex), type.getElementType());
  for (Value feature : features)
    if (!isCompatibleElement(tensorOf(feature).getElementType(), type.getElementType()) ||
        failed(verifyCompatibleShape(tensorOf(feature).getShape(), vector.getShape())))
      return op->emitOpError() << "expected numbers of type " << vector << ", one per feature, got "
                               << feature.getType();
  return success();
}

LogicalResult BatchNormTrainingOp::verify() {
  return verifyBatchNorm(*this, getOperand(), getFeatureIndex(), getOutput(),
                         {getScale(), getOffset(), getBatchMean(), getBatchVar()});
}

LogicalResult BatchNormInferenceOp::verify() {
  return verifyBatchNorm(*this, getOperand(), getFeatureIndex(), getResult(),
                         {getScale(), getOffset(), getMean(), getVariance()});
}

LogicalResult BatchNormGradOp::verify() {
  return verifyBatchNorm(*this, getOperand(), getFeatureIndex(), {getGradOutput(), getGradOperand()},
                         {getScale(), getMean(), getVariance(), getGradScale(), getGradOffset()});
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

LogicalResult RngOp::verify() {
  if (failed(verifyRank(*this, "a", getA(), 0)) || failed(verifyRank(*this, "b", getB(), 0)) ||
      failed(verifyRank(*this, "shape", getShape(), 1)))
    return failure();
  Type element = tensorOf(getA()).getElementType();
  if (tensorOf(getB()).getElementType() != element ||
      tensorOf(getResult()).getElementType() != element) // (C1)
    return emitOpError() << "expected a, b and result of one element type, got " << getA().getType() << ", "
                         << getB().getType() << " and " << getResult().getType();
  if (getRngDistribution() == RngDistribution::NORMAL && !isa<FloatType>(element)) // (C2)
    return emitOpError() << "expected numbers of a float type for NORMAL, got " << element;
  if (isa<ComplexType>(element))
    return emitOpError() << "expected real numbers, got " << element;
  int64_t rank = tensorOf(getShape()).getDimSize(0);
  if (ShapedType::isDynamic(rank))
    return success();
  if (failed(verifyRank(*this, "a result", getResult(), rank)))
    return failure();
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  DenseIntElementsAttr known;
  if (matchPattern(getShape(), m_Constant(&known)) && known.getNumElements() == int64_t(shape.size()))
    for (auto [size, value] : llvm::zip_equal(shape, known.getValues<APInt>()))
      size = value.getSExtValue();
  return verifyShape(*this, getResult(), shape); // (C3)
}

LogicalResult RngBitGeneratorOp::verify() {
  RankedTensorType initial = tensorOf(getInitialState());
  // (C2), of states in 64-bit numbers; frontends write others that a backend takes apart.
  bool isThreefry = getRngAlgorithm() == RngAlgorithm::THREE_FRY;
  if (getRngAlgorithm() != RngAlgorithm::DEFAULT && initial.getElementType().isInteger(64) &&
      initial.getRank() == 1 && !initial.isDynamicDim(0) && initial.getDimSize(0) != 2 &&
      (isThreefry || initial.getDimSize(0) != 3))
    return emitOpError() << "expected a state of 2" << (isThreefry ? "" : " or 3") << " numbers, got "
                         << initial;
  return verifyType(*this, getOutputState(), initial); // (C1)
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

LogicalResult ResultAccuracyAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, FloatAttr atol,
                                         FloatAttr rtol, int64_t ulps, ResultAccuracyModeAttr mode) {
  bool isTolerant = !atol.getValue().isZero() || !rtol.getValue().isZero() || ulps != 0;
  if (mode.getValue() != ResultAccuracyMode::TOLERANCE && isTolerant)
    return emitError() << "expected no tolerances with mode " << stringifyResultAccuracyMode(mode.getValue())
                       << ", got atol " << atol.getValueAsDouble() << ", rtol " << rtol.getValueAsDouble()
                       << " and ulps " << ulps;
  return success();
}
