//===-- ContractionVerifiers.cpp - verifiers of products of matrices -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// Verifies pairs of dimensions, one of each operand, that have the same size.
static LogicalResult verifyDimPairs(DotGeneralOp op, StringRef name, ArrayRef<int64_t> lhs,
                                    ArrayRef<int64_t> rhs, SmallVectorImpl<bool> &lhsUsed,
                                    SmallVectorImpl<bool> &rhsUsed) {
  auto lhsType = cast<RankedTensorType>(op.getLhs().getType());
  auto rhsType = cast<RankedTensorType>(op.getRhs().getType());
  if (lhs.size() != rhs.size())
    return op.emitOpError() << "expected as many " << name << " dimensions of lhs as of rhs, got "
                            << lhs.size() << " and " << rhs.size();
  for (auto [l, r] : llvm::zip_equal(lhs, rhs)) {
    if (l < 0 || l >= lhsType.getRank() || r < 0 || r >= rhsType.getRank())
      return op.emitOpError() << "expected " << name << " dimensions in range, got " << l << " of " << lhsType
                              << " and " << r << " of " << rhsType;
    if (std::exchange(lhsUsed[l], true) || std::exchange(rhsUsed[r], true))
      return op.emitOpError() << "expected each dimension to be batched or contracted once, got " << name
                              << " dimensions " << l << " and " << r << " again";
    if (lhsType.getDimSize(l) != rhsType.getDimSize(r) && !lhsType.isDynamicDim(l) &&
        !rhsType.isDynamicDim(r))
      return op.emitOpError() << "expected " << name << " dimensions of one size, got "
                              << lhsType.getDimSize(l) << " and " << rhsType.getDimSize(r);
  }
  return success();
}

/// Returns whether some device multiplies like this: 8-bit floats; one 16-, 19-, 32- or 64-bit format; or
/// sums of several products of parts of such numbers.
static bool isKnownAlgorithm(DotAlgorithmAttr algorithm) {
  Type lhs = algorithm.getLhsPrecisionType(), rhs = algorithm.getRhsPrecisionType(),
       sum = algorithm.getAccumulationType();
  int64_t products = algorithm.getNumPrimitiveOperations(), parts = algorithm.getLhsComponentCount();
  if (!isa<FloatType>(lhs) || !isa<FloatType>(rhs) || !isa<FloatType>(sum) ||
      parts != algorithm.getRhsComponentCount() || parts > products)
    return false;
  if (lhs.getIntOrFloatBitWidth() == 8 && rhs.getIntOrFloatBitWidth() == 8)
    return products == 1 && (sum.isF32() || sum.isF16() || sum.isBF16());
  if (lhs != rhs || algorithm.getAllowImpreciseAccumulation())
    return false;
  if (lhs.isF16() || lhs.isF32() || lhs.isF64())
    return products == 1 && (sum == lhs || (lhs.isF16() && sum.isF32()));
  if (lhs.isBF16())
    return (products == 1 && sum == lhs) || (llvm::is_contained({1, 3, 6, 9}, products) && sum.isF32());
  return lhs.isTF32() && sum.isF32() && (products == 1 || products == 3);
}

/// Verifies that an op with an algorithm asks for no other precision.
static LogicalResult verifyAlgorithm(DotGeneralOp op) {
  if (ArrayAttr config = op.getPrecisionConfigAttr())
    for (Attribute precision : config)
      if (cast<PrecisionAttr>(precision).getValue() != Precision::DEFAULT) // (C21)
        return op.emitOpError() << "expected precision DEFAULT with an algorithm, got "
                                << stringifyPrecision(cast<PrecisionAttr>(precision).getValue());
  DotAlgorithmAttr algorithm = op.getAlgorithmAttr();
  int64_t counts[] = {algorithm.getLhsComponentCount(), algorithm.getRhsComponentCount(),
                      algorithm.getNumPrimitiveOperations()};
  if (failed(verifyPositive(op, "component and primitive operation counts", counts))) // (C22), (C23), (C24)
    return failure();
  if (isKnownAlgorithm(algorithm))
    return success();
  return op.emitOpError() << "expected an algorithm that some device has, got " << algorithm;
}

LogicalResult DotGeneralOp::verify() {
  auto lhsType = cast<RankedTensorType>(getLhs().getType());
  auto rhsType = cast<RankedTensorType>(getRhs().getType());
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  SmallVector<bool> lhsUsed(lhsType.getRank()), rhsUsed(rhsType.getRank());
  if (failed(verifyComplexProduct(*this)) || failed(verifyPrecision(*this, getPrecisionConfig()))) // (C11)
    return failure();
  if (getAlgorithm() && failed(verifyAlgorithm(*this)))
    return failure();
  if (failed(verifyDimPairs(*this, "batching", numbers.getLhsBatchingDimensions(),
                            numbers.getRhsBatchingDimensions(), lhsUsed, rhsUsed)) ||
      failed(verifyDimPairs(*this, "contracting", numbers.getLhsContractingDimensions(),
                            numbers.getRhsContractingDimensions(), lhsUsed, rhsUsed)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : numbers.getLhsBatchingDimensions())
    shape.push_back(lhsType.getDimSize(dim));
  for (int64_t i = 0; i < lhsType.getRank(); ++i)
    if (!lhsUsed[i])
      shape.push_back(lhsType.getDimSize(i));
  for (int64_t i = 0; i < rhsType.getRank(); ++i)
    if (!rhsUsed[i])
      shape.push_back(rhsType.getDimSize(i));
  if (failed(verifyCompatibleShape(getResult().getType(),
                                   RankedTensorType::get(shape, lhsType.getElementType()))))
    return emitOpError() << "expected a result of type "
                         << RankedTensorType::get(
                                shape, cast<RankedTensorType>(getResult().getType()).getElementType())
                         << ", got " << getResult().getType();
  auto mayHaveScales = [&](int64_t dim) {
    return !llvm::is_contained(numbers.getRhsContractingDimensions(), dim);
  };
  ProductDimensions dims{mayHaveScales, std::nullopt, /*needsZeroRhs=*/true};
  return verifyQuantizedProduct(*this, getLhs(), getRhs(), getResult(), dims); // (C14) to (C20)
}

LogicalResult DotOp::verify() {
  RankedTensorType lhs = tensorOf(getLhs()), rhs = tensorOf(getRhs());
  for (RankedTensorType type : {lhs, rhs})
    if (type.getRank() < 1 || type.getRank() > 2) // (C1)
      return emitOpError() << "expected operands of rank 1 or 2, got " << lhs << " and " << rhs;
  if (failed(verifyCompatibleDims({lhs.getShape().back(), rhs.getShape().front()}))) // (C2)
    return emitOpError() << "expected contracting dimensions of one size, got " << lhs.getShape().back()
                         << " and " << rhs.getShape().front();
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  return success(succeeded(verifyComplexProduct(*this)) &&
                 succeeded(verifyPrecision(*this, getPrecisionConfig())) &&
                 succeeded(verifyShape(*this, getResult(), shape))); // (C3)
}
