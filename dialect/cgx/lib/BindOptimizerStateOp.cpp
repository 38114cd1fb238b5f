//===-- BindOptimizerStateOp.cpp - cgx.bind_optimizer_state ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace cgx;

Value BindOptimizerStateOp::getKept(Kept kept) {
  switch (kept) {
  case Kept::Parameter:
    return getParameter();
  case Kept::FirstMoment:
    return getFirstMoment();
  case Kept::SecondMoment:
    return getSecondMoment();
  case Kept::LearningRate:
    return getLearningRate();
  }
  return {};
}

/// Returns whether the tensor is an argument of the step, whose memory is unchanged until the step ends.
/// Anything that the step computes may be overwritten or freed before.
static bool staysUntilTheEnd(Value tensor) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  return argument && isa_and_present<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

LogicalResult BindOptimizerStateOp::verify() {
  if (getId() < 0 || getOperandNumber() < 0) // (C1)
    return emitOpError() << "expected id and operand_number to be at least 0, got " << getId() << " and "
                         << getOperandNumber();
  auto parameter = cast<RankedTensorType>(getParameter().getType());
  for (Value kept : {getParameter(), getFirstMoment(), getSecondMoment()}) { // (C2)
    if (!kept)
      continue;
    auto type = cast<RankedTensorType>(kept.getType());
    Type element = type.getElementType();
    if (!type.hasStaticShape() || !(element.isF32() || element.isF16() || element.isBF16()))
      return emitOpError() << "expected tensors of static shape, of f16, bf16 or f32, got " << type;
    if (type.getNumElements() != parameter.getNumElements())
      return emitOpError() << "expected as many elements as the parameter, of type " << parameter
                           << ", has, got " << type;
  }
  for (Value tensor : getOperands()) // (C3)
    if (!staysUntilTheEnd(tensor))
      return emitOpError()
             << "expected arguments of the step, which stay as they are until it ends, got a value "
                "that it computes, of type "
             << tensor.getType();
  if (TypedValue<RankedTensorType> rate = getLearningRate()) // (C4)
    if (!rate.getType().hasStaticShape() || rate.getType().getNumElements() != 1 ||
        !rate.getType().getElementType().isF32())
      return emitOpError() << "expected one f32 as learning_rate, got " << rate.getType();
  return success();
}
