//===-- RankDivision.cpp - Divisions by the number of ranks ---------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankDivision.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace cgx;

namespace {

/// Returns the number that a constant, or the operand of its broadcast, has in all elements.
std::optional<double> getConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp, stablehlo::ConvertOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseFPElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return std::nullopt;
  return constant.getSplatValue<APFloat>().convertToDouble();
}

} // namespace

std::optional<RankDivision> cgx::getDivisionBy(Operation *op, double ranks) {
  auto isNumber = [&](unsigned operand, double expected) {
    std::optional<double> number = getConstant(op->getOperand(operand));
    return number && std::abs(*number - expected) <= 1e-6 * expected;
  };
  if (isa<stablehlo::DivOp>(op) && isNumber(1, ranks))
    return RankDivision{&op->getOpOperand(1), /*isReciprocal=*/false};
  if (isa<stablehlo::MulOp>(op))
    for (unsigned operand : {0, 1})
      if (isNumber(operand, 1 / ranks))
        return RankDivision{&op->getOpOperand(operand), /*isReciprocal=*/true};
  return std::nullopt;
}

SmallVector<RankDivision> cgx::getScalarDivisions(Value value, double ranks) {
  SmallVector<RankDivision> divisions;
  llvm::SetVector<Value> worklist;
  worklist.insert(value);
  for (size_t i = 0; i < worklist.size(); ++i) {
    Operation *op = worklist[i].getDefiningOp();
    if (!op)
      continue;
    auto type = dyn_cast<RankedTensorType>(worklist[i].getType());
    if (type && type.getRank() == 0 && isa<FloatType>(type.getElementType()))
      if (std::optional<RankDivision> division = getDivisionBy(op, ranks))
        divisions.push_back(*division);
    worklist.insert(op->operand_begin(), op->operand_end());
  }
  return divisions;
}
