//===-- ComputationVerifiers.cpp - verifiers of contractions and of ops with regions -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// Pairs of dimensions, one of each operand, that have the same size.
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

LogicalResult DotGeneralOp::verify() {
  auto lhsType = cast<RankedTensorType>(getLhs().getType());
  auto rhsType = cast<RankedTensorType>(getRhs().getType());
  DotDimensionNumbersAttr numbers = getDotDimensionNumbers();
  SmallVector<bool> lhsUsed(lhsType.getRank()), rhsUsed(rhsType.getRank());
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
  return success();
}

LogicalResult ReduceOp::verify() {
  size_t count = getInputs().size();
  if (count == 0)
    return emitOpError() << "expected at least one operand";
  if (getNumResults() != count)
    return emitOpError() << "expected " << count << " results, one per operand, got " << getNumResults();
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  SmallVector<bool> reduced(first.getRank());
  for (int64_t dim : getDimensions()) {
    if (dim < 0 || dim >= first.getRank())
      return emitOpError() << "expected dimensions in range [0, " << first.getRank() << "), got " << dim;
    if (std::exchange(reduced[dim], true))
      return emitOpError() << "expected dimensions to be unique, got " << dim << " twice";
  }
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < first.getRank(); ++i)
    if (!reduced[i])
      shape.push_back(first.getDimSize(i));
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (failed(verifyCompatibleShape(cast<RankedTensorType>(input.getType()).getShape(), first.getShape())))
      return emitOpError() << "expected operands of one shape, got " << first << " and " << input.getType();
    if (failed(verifyCompatibleShape(cast<RankedTensorType>(result.getType()).getShape(),
                                     ArrayRef<int64_t>(shape))))
      return emitOpError() << "expected a result of type "
                           << RankedTensorType::get(shape, first.getElementType()) << ", got "
                           << result.getType();
  }
  if (getBody().getNumArguments() != 2 * count)
    return emitOpError() << "expected " << 2 * count << " arguments of the body, got "
                         << getBody().getNumArguments();
  return success();
}

LogicalResult WhileOp::verify() {
  if (getResultTypes() != getOperandTypes())
    return emitOpError() << "expected results of the types of the operands, " << getOperandTypes() << ", got "
                         << getResultTypes();
  for (Region *region : {&getCond(), &getBody()})
    if (region->getArgumentTypes() != getOperandTypes())
      return emitOpError() << "expected the arguments of region " << region->getRegionNumber()
                           << " to have the types of the operands, " << getOperandTypes() << ", got "
                           << region->getArgumentTypes();
  return success();
}
