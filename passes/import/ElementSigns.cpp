//===-- ElementSigns.cpp - propagation of the signs of elements -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementSigns.h"

#include "KeptElements.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/MhloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// Equality up to a scale
//===----------------------------------------------------------------------===//

/// Ops that change neither elements nor their order are looked through, but not without end.
static constexpr unsigned kLongestChain = 16;

/// Returns the value of all elements of a constant.
static std::optional<APFloat> getConstantSplat(Value value) {
  DenseFPElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return constant.getSplatValue<APFloat>();
  return std::nullopt;
}

static bool isSingle(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

/// Returns whether one number stands for all elements.
static bool isScalarEverywhere(Value value, unsigned depth = kLongestChain) {
  if (isSingle(value) || getConstantSplat(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op &&
         isa<stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp, stablehlo::ConvertOp, stablehlo::ReshapeOp,
             stablehlo::NegOp>(op) &&
         depth > 0 && isScalarEverywhere(op->getOperand(0), depth - 1);
}

Value cgx::getScaledBase(Value value) {
  for (unsigned i = 0; i < kLongestChain; ++i) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      break;
    Operation *op = result.getOwner();
    if (isa<stablehlo::ConvertOp, stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::NegOp,
            mhlo::CopyOp, stablehlo::ReducePrecisionOp>(op))
      value = op->getOperand(0);
    else if (isa<stablehlo::OptimizationBarrierOp>(op))
      value = op->getOperand(result.getResultNumber());
    else if (isa<stablehlo::MulOp, stablehlo::DivOp>(op) && isScalarEverywhere(op->getOperand(1)))
      value = op->getOperand(0);
    else if (isa<stablehlo::MulOp>(op) && isScalarEverywhere(op->getOperand(0)))
      value = op->getOperand(1);
    else
      break;
  }
  return value;
}

/// Returns whether the values are one, or two that are computed alike.
static bool isSame(Value a, Value b, unsigned depth) {
  if (a == b)
    return true;
  auto left = dyn_cast<OpResult>(a), right = dyn_cast<OpResult>(b);
  if (depth == 0 || !left || !right || left.getResultNumber() != right.getResultNumber())
    return false;
  Operation *first = left.getOwner(), *second = right.getOwner();
  return first->getName() == second->getName() && isPure(first) && isPure(second) &&
         first->getNumRegions() == 0 && first->getNumOperands() == second->getNumOperands() &&
         first->getName().compareOpProperties(first->getPropertiesStorage(),
                                              second->getPropertiesStorage()) &&
         llvm::all_of(llvm::zip(first->getOperands(), second->getOperands()),
                      [&](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair), depth - 1); });
}

static bool isScaledSame(Value a, Value b) { return isSame(getScaledBase(a), getScaledBase(b), /*depth=*/3); }

//===----------------------------------------------------------------------===//
// Which operands a sign comes from
//===----------------------------------------------------------------------===//

namespace {
enum class Rule {
  Kept, ///< The operands whose elements the result keeps.
  None, ///< Even functions, and those that are positive everywhere.
  All,
  Two,
  First,
  Second,
  SamePosition
};
} // namespace

/// Returns whether the op multiplies element by element, rather than summing products.
static bool isElementwiseProduct(Operation *op) {
  return isa<stablehlo::MulOp, arith::MulFOp, linalg::MulOp, tosa::MulOp>(op);
}

/// Returns how an op passes signs on. An op that keeps elements, and is not known to lose their signs, keeps
/// them.
static Rule getRule(Operation *op) {
  if (isa<stablehlo::AbsOp, stablehlo::CosineOp, stablehlo::ExpOp, stablehlo::LogOp, stablehlo::LogisticOp,
          stablehlo::PowOp, stablehlo::RsqrtOp, stablehlo::SqrtOp, chlo::CoshOp, chlo::LgammaOp,
          chlo::PolygammaOp, chlo::SquareOp, mhlo::CoshOp, math::AbsFOp, math::CosOp, math::CoshOp,
          math::ExpOp, math::LogOp, math::PowFOp, math::RsqrtOp, math::SqrtOp, tosa::AbsOp, tosa::ExpOp,
          tosa::ReciprocalOp, tosa::RsqrtOp>(op))
    return Rule::None;
  if (isElementwiseProduct(op) ||
      isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::ConvolutionOp, linalg::DotOp,
          linalg::MatmulOp, linalg::BatchMatmulOp, tosa::MatMulOp>(op))
    return Rule::Two;
  if (isa<stablehlo::BroadcastOp, stablehlo::BroadcastInDimOp, stablehlo::DynamicGatherOp, stablehlo::FftOp,
          stablehlo::GatherOp, linalg::BroadcastOp, tensor::GatherOp, tosa::GatherOp>(op) ||
      isa<stablehlo::DivOp, arith::DivFOp, linalg::DivOp>(op)) // a divisor scales
    return Rule::First;
  if (isa<stablehlo::ClampOp, stablehlo::SelectAndScatterOp, stablehlo::TriangularSolveOp>(op))
    return Rule::Second;
  if (isa<stablehlo::ScatterOp, tensor::ScatterOp, tosa::ScatterOp>(op))
    return Rule::All;
  if (isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::SortOp, linalg::ReduceOp>(op))
    return Rule::SamePosition;
  return Rule::Kept;
}

/// Returns whether a reduction multiplies elements, or joins bits.
static bool isProduct(Operation *op) {
  bool found = false;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      found |= isa<stablehlo::MulOp, stablehlo::AndOp, stablehlo::OrOp, stablehlo::XorOp>(inner);
    });
  return found;
}

SmallVector<Value> cgx::getSignOperands(OpResult result) {
  Operation *op = result.getOwner();
  const auto at = [&](unsigned i) {
    return op->getNumOperands() > i ? SmallVector<Value>{op->getOperand(i)} : SmallVector<Value>();
  };
  // LAPACK's solution with a triangular matrix, its first operand, is linear in the second.
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op); call && call.getCallTargetName().contains("trsm"))
    return at(1);
  switch (getRule(op)) {
  case Rule::Kept:
    return getKeptOperands(result);
  case Rule::None:
    return {};
  case Rule::All:
    return SmallVector<Value>(op->getOperands());
  case Rule::Two:
    return SmallVector<Value>(op->getOperands().take_front(2));
  case Rule::First:
    return at(0);
  case Rule::Second:
    return at(1);
  case Rule::SamePosition:
    return isProduct(op) ? SmallVector<Value>() : at(result.getResultNumber());
  }
  llvm_unreachable("every rule is handled");
}

bool cgx::isSquare(Operation *op) {
  return getRule(op) == Rule::Two && isScaledSame(op->getOperand(0), op->getOperand(1));
}

//===----------------------------------------------------------------------===//
// Equal signs
//===----------------------------------------------------------------------===//

/// Returns whether the value is an argument of the step. Such a value is no gradient: the square of a
/// parameter is the gradient of its third power.
static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(getScaledBase(value));
  return argument && isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

static ElementSigns getSignsOfProduct(Operation *op, function_ref<ElementSigns(Value)> signsOf) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  if (isScaledSame(a, b) && !(isElementwiseProduct(op) && isArgument(a)))
    return ElementSigns::Equal;
  ElementSigns left = signsOf(a), right = signsOf(b);
  const auto isNegative = [](Value value) {
    std::optional<APFloat> splat = getConstantSplat(value);
    return splat && splat->isNegative() && !splat->isZero();
  };
  // One number for all elements scales them, whatever its sign is, unless that is known. It decides the sign
  // of a single element.
  const auto scales = [&](Value value) {
    return (isSingle(op->getResult(0)) ? getConstantSplat(value).has_value() : isScalarEverywhere(value)) &&
           !isNegative(value);
  };
  if (scales(a))
    return right;
  if (scales(b))
    return left;
  return join(left, right);
}

/// Returns the signs of a power. Even powers have equal signs, unless of an argument; others have the signs
/// of their base.
static ElementSigns getSignsOfPower(Operation *op, function_ref<ElementSigns(Value)> signsOf) {
  std::optional<APFloat> exponent = getConstantSplat(op->getOperand(1));
  const bool isEven = exponent && exponent->isInteger() && std::fmod(exponent->convertToDouble(), 2) == 0;
  return isEven && !isArgument(op->getOperand(0)) ? ElementSigns::Equal : signsOf(op->getOperand(0));
}

/// Returns the signs of a conversion: a mask is 0 or 1; the signs of other integers are not known.
static ElementSigns getSignsOfConvert(Operation *op, function_ref<ElementSigns(Value)> signsOf) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  if (from.isInteger(1))
    return ElementSigns::Constant;
  return isa<FloatType>(from) ? signsOf(op->getOperand(0)) : ElementSigns::Mixed;
}

ElementSigns cgx::getElementSigns(OpResult result, function_ref<ElementSigns(Value)> signsOf) {
  Operation *op = result.getOwner();
  if (std::optional<APFloat> splat = getConstantSplat(result))
    return splat->isNegative() && !splat->isZero() ? ElementSigns::Mixed : ElementSigns::Constant;
  unsigned count = op->getNumOperands();
  if (count == 0)
    return ElementSigns::Mixed;
  const auto joinAll = [&](unsigned begin, unsigned end) {
    ElementSigns signs = ElementSigns::Unvisited;
    for (unsigned i = begin; i < std::min(end, count); ++i)
      if (isa<FloatType>(getElementTypeOrSelf(op->getOperand(i).getType())))
        signs = join(signs, signsOf(op->getOperand(i)));
    return signs;
  };
  if (isa<stablehlo::MulOp, arith::MulFOp, stablehlo::DotGeneralOp, stablehlo::DotOp>(op))
    return getSignsOfProduct(op, signsOf);
  if (isa<stablehlo::DivOp, arith::DivFOp>(op))
    return isScalarEverywhere(op->getOperand(1)) && !isSingle(result) ? signsOf(op->getOperand(0))
                                                                      : joinAll(0, count);
  if (isa<stablehlo::PowOp>(op))
    return getSignsOfPower(op, signsOf);
  if (isa<stablehlo::AbsOp, chlo::SquareOp, math::AbsFOp, tosa::AbsOp>(op))
    return isArgument(op->getOperand(0)) ? ElementSigns::Mixed : ElementSigns::Equal;
  if (isa<stablehlo::SqrtOp, stablehlo::RsqrtOp, stablehlo::ExpOp, math::SqrtOp, math::RsqrtOp, math::ExpOp,
          tosa::RsqrtOp, tosa::ExpOp>(op))
    return ElementSigns::Equal;
  if (isa<stablehlo::ConvertOp>(op))
    return getSignsOfConvert(op, signsOf);
  if (isa<stablehlo::AddOp, stablehlo::ConcatenateOp, stablehlo::MaxOp, stablehlo::MinOp, stablehlo::PadOp,
          stablehlo::ScatterOp, arith::AddFOp, tensor::ConcatOp, tosa::AddOp, tosa::ConcatOp>(op))
    return joinAll(0, count);
  if (isa<stablehlo::SelectOp, tosa::SelectOp>(op))
    return joinAll(1, count);
  if (isa<stablehlo::ClampOp>(op))
    return signsOf(op->getOperand(1));
  if (isa<stablehlo::DynamicUpdateSliceOp>(op))
    return joinAll(0, 2);
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return signsOf(op->getOperand(result.getResultNumber()));
  if (isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, linalg::ReduceOp>(op))
    return isProduct(op) ? ElementSigns::Mixed : signsOf(op->getOperand(result.getResultNumber()));
  const bool keepsSigns =
      isa<stablehlo::BroadcastOp, stablehlo::BroadcastInDimOp, mhlo::CopyOp, stablehlo::DynamicSliceOp,
          stablehlo::GatherOp, stablehlo::ReducePrecisionOp, stablehlo::ReshapeOp, stablehlo::ReverseOp,
          stablehlo::SliceOp, stablehlo::TransposeOp, tosa::ReshapeOp, tosa::SliceOp, tosa::TransposeOp>(op);
  return keepsSigns ? signsOf(op->getOperand(0)) : ElementSigns::Mixed;
}
