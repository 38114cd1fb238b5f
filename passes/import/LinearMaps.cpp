//===-- LinearMaps.cpp - ops that commute with a sum over ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearMaps.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cgx;

Value cgx::getSplat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return {};
  if (type.getNumElements() == 1)
    return value;
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return value;
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    return getSplat(broadcast.getOperand());
  if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>())
    return getSplat(reshape.getOperand());
  return {};
}

Value cgx::reshapeSplat(OpBuilder &builder, Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  Value splat = getSplat(value);
  DenseElementsAttr constant;
  if (matchPattern(splat, m_Constant(&constant)))
    return stablehlo::ConstantOp::create(builder, value.getLoc(),
                                         DenseElementsAttr::get(type, constant.getSplatValue<Attribute>()));
  auto single = cast<RankedTensorType>(splat.getType());
  if (single.getRank() > 0)
    splat = stablehlo::ReshapeOp::create(builder, value.getLoc(),
                                         RankedTensorType::get({}, type.getElementType()), splat);
  return stablehlo::BroadcastInDimOp::create(builder, value.getLoc(), type, splat, ArrayRef<int64_t>{});
}

/// Returns the operand that an elementwise product or quotient scales by one number, and the number.
static std::optional<std::pair<OpOperand *, Value>> getScaling(Operation *op) {
  if (!isa<stablehlo::MulOp, stablehlo::DivOp>(op) || !isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
    return std::nullopt;
  if (Value factor = getSplat(op->getOperand(1)))
    return std::pair{&op->getOpOperand(0), factor};
  if (Value factor = getSplat(op->getOperand(0)); factor && isa<stablehlo::MulOp>(op))
    return std::pair{&op->getOpOperand(1), factor};
  return std::nullopt;
}

/// Returns the type of a convert's operand and that of its result, where both are floats.
static std::optional<std::pair<FloatType, FloatType>> getConversion(Operation *op) {
  if (!isa<stablehlo::ConvertOp>(op))
    return std::nullopt;
  auto from = dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0)));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  return from && to ? std::optional(std::pair{from, to}) : std::nullopt;
}

/// Returns whether every number of `from` is one of `to`.
static bool isWider(FloatType from, FloatType to) {
  const llvm::fltSemantics &a = from.getFloatSemantics(), &b = to.getFloatSemantics();
  return llvm::APFloat::semanticsPrecision(a) <= llvm::APFloat::semanticsPrecision(b) &&
         llvm::APFloat::semanticsMaxExponent(a) <= llvm::APFloat::semanticsMaxExponent(b) &&
         llvm::APFloat::semanticsMinExponent(a) >= llvm::APFloat::semanticsMinExponent(b);
}

OpOperand *cgx::getLinearOperand(Operation *op) {
  if (isa<stablehlo::NegOp, stablehlo::TransposeOp, stablehlo::ReshapeOp, stablehlo::ReverseOp>(op) ||
      getConversion(op))
    return &op->getOpOperand(0);
  std::optional<std::pair<OpOperand *, Value>> scaling = getScaling(op);
  return scaling ? scaling->first : nullptr;
}

bool cgx::commutesWithRanks(Operation *op) {
  if (auto conversion = getConversion(op))
    return isWider(conversion->first, conversion->second);
  if (std::optional<std::pair<OpOperand *, Value>> scaling = getScaling(op))
    return matchPattern(scaling->second, m_Constant());
  return true;
}

bool cgx::areSameMap(Operation *a, Operation *b) {
  if (a->getName() != b->getName() || a->getAttrDictionary() != b->getAttrDictionary() ||
      a->getResultTypes() != b->getResultTypes() ||
      getLinearOperand(a)->getOperandNumber() != getLinearOperand(b)->getOperandNumber() ||
      getLinearOperand(a)->get().getType() != getLinearOperand(b)->get().getType())
    return false;
  std::optional<std::pair<OpOperand *, Value>> first = getScaling(a), second = getScaling(b);
  if (!first || first->second == second->second)
    return true;
  DenseElementsAttr x, y;
  return matchPattern(first->second, m_Constant(&x)) && matchPattern(second->second, m_Constant(&y)) &&
         x.getSplatValue<Attribute>() == y.getSplatValue<Attribute>();
}

Value cgx::applyMap(OpBuilder &builder, Operation *op, Value value) {
  OpOperand *linear = getLinearOperand(op);
  auto type = cast<RankedTensorType>(value.getType());
  IRMapping mapping;
  mapping.map(linear->get(), value);
  for (OpOperand &operand : op->getOpOperands())
    if (&operand != linear)
      mapping.map(operand.get(), reshapeSplat(builder, operand.get(), type));
  Operation *copy = builder.clone(*op, mapping);
  if (op->hasTrait<OpTrait::Elementwise>())
    copy->getResult(0).setType(type.clone(getElementTypeOrSelf(op->getResult(0))));
  return copy->getResult(0);
}

std::optional<MappedReduction> cgx::matchMappedReduction(Value value, Block *block) {
  MappedReduction match;
  while (value.hasOneUse()) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || result.getOwner()->getBlock() != block)
      return std::nullopt;
    if ((match.reduce = dyn_cast<AllReduceOp>(result.getOwner()))) {
      match.operand = result.getResultNumber();
      std::reverse(match.maps.begin(), match.maps.end());
      Reduction kind = match.reduce.getReduction();
      if (kind != Reduction::Sum && kind != Reduction::Mean)
        return std::nullopt;
      return match;
    }
    OpOperand *linear = getLinearOperand(result.getOwner());
    if (!linear)
      return std::nullopt;
    match.maps.push_back(result.getOwner());
    value = linear->get();
  }
  return std::nullopt;
}
