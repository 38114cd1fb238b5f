//===-- WindowVerifiers.cpp - verifiers of ops whose windows slide -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace cgx::stablehlo;

LogicalResult ReduceWindowOp::verify() {
  size_t count = getInputs().size();
  if (count == 0 || getNumResults() != count) // (C1)
    return emitOpError() << "expected operands, and as many results, got " << count << " and "
                         << getNumResults();
  if (failed(verifySameShapes(*this, "operands", getInputs()))) // (C2)
    return failure();
  for (Value initial : getInitValues())
    if (failed(verifyRank(*this, "initial values", initial, 0)))
      return failure();
  RankedTensorType input = tensorOf(getInputs()[0]);
  Window window{getWindowDimensions(), getWindowStrides(), getBaseDilations(), getWindowDilations(),
                getPadding()};
  SmallVector<Type> elements;
  if (failed(verifyWindow(*this, window, input.getRank())) || // (C4) to (C12)
      failed(verifyReducer(*this, "the body", getBody(), getInputs().getTypes(), getInitValues().getTypes(),
                           elements))) // (C3), (C13)
    return failure();
  FailureOr<SmallVector<int64_t>> shape = countWindows(*this, window, input.getShape());
  if (failed(shape))
    return failure();
  for (auto [result, element] : llvm::zip_equal(getResults(), elements)) // (C14) to (C16)
    if (failed(verifyType(*this, result, RankedTensorType::get(*shape, element))))
      return failure();
  return success();
}

/// Verifies (C9): a comparison of two elements.
static LogicalResult verifySelect(SelectAndScatterOp op) {
  auto element = RankedTensorType::get({}, tensorOf(op.getOperand()).getElementType());
  auto pred = RankedTensorType::get({}, IntegerType::get(op.getContext(), 1));
  Type types[] = {element, element}, returned[] = {pred};
  return success(succeeded(verifyArguments(op, "select", op.getSelect(), types)) &&
                 succeeded(verifyReturned(op, "select", op.getSelect(), returned)));
}

LogicalResult SelectAndScatterOp::verify() {
  RankedTensorType operand = tensorOf(getOperand());
  Window window{
      getWindowDimensions().value_or(ArrayRef<int64_t>()), getWindowStrides(), {}, {}, getPadding()};
  if (failed(verifyWindow(*this, window, operand.getRank())) || failed(verifySelect(*this))) // (C4) to (C9)
    return failure();
  FailureOr<SmallVector<int64_t>> shape = countWindows(*this, window, operand.getShape());
  if (failed(shape))
    return failure();
  auto source = RankedTensorType::get(*shape, operand.getElementType());
  if (!isCompatibleElement(tensorOf(getSource()).getElementType(), source.getElementType()) ||
      failed(verifyCompatibleShape(tensorOf(getSource()).getShape(), source.getShape()))) // (C1), (C2)
    return emitOpError() << "expected a source of type " << source << ", got " << getSource().getType();
  if (failed(verifyRank(*this, "the initial value", getInitValue(), 0)))
    return failure();
  SmallVector<Type> elements;
  if (failed(verifyReducer(*this, "scatter", getScatter(), getOperand().getType(), getInitValue().getType(),
                           elements))) // (C3), (C10)
    return failure();
  return verifyType(*this, getResult(),
                    RankedTensorType::get(operand.getShape(), elements[0])); // (C11), (C12)
}
