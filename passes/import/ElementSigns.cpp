//===-- ElementSigns.cpp - what becomes of the signs of elements ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementSigns.h"

#include "KeptElements.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// The same but for a scale
//===----------------------------------------------------------------------===//

/// Ops that change neither elements nor their order are looked through, but not without end.
static constexpr unsigned kLongestChain = 16;

/// The value of all elements of a constant.
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

/// A number that stands for all elements.
static bool isScalarEverywhere(Value value, unsigned depth = kLongestChain) {
  if (isSingle(value) || getConstantSplat(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op &&
         llvm::is_contained({"broadcast_in_dim", "broadcast", "convert", "reshape", "negate"},
                            op->getName().stripDialect()) &&
         op->getNumOperands() > 0 && depth > 0 && isScalarEverywhere(op->getOperand(0), depth - 1);
}

Value cgx::getScaledBase(Value value) {
  for (unsigned i = 0; i < kLongestChain; ++i) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      break;
    Operation *op = result.getOwner();
    StringRef name = op->getName().stripDialect();
    if (llvm::is_contained({"convert", "reshape", "transpose", "negate", "copy", "reduce_precision"}, name))
      value = op->getOperand(0);
    else if (name == "optimization_barrier")
      value = op->getOperand(result.getResultNumber());
    else if ((name == "multiply" || name == "divide") && isScalarEverywhere(op->getOperand(1)))
      value = op->getOperand(0);
    else if (name == "multiply" && isScalarEverywhere(op->getOperand(0)))
      value = op->getOperand(1);
    else
      break;
  }
  return value;
}

/// One value, or two that were written alike.
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

/// Ops are named as in KeptElements.cpp, without their dialect: StableHLO's, chlo's, and upstream's. What
/// keeps elements and is not known to lose their sign keeps it.
static Rule getRule(StringRef name) {
  return llvm::StringSwitch<Rule>(name)
      .Cases({"abs", "absf", "cos", "cosh", "cosine", "exp", "exponential", "lgamma", "log", "logistic"},
             Rule::None)
      .Cases({"polygamma", "pow", "power", "powf", "reciprocal", "rsqrt", "sigmoid", "sqrt", "square"},
             Rule::None)
      .Cases({"multiply", "mul", "mulf", "dot_general", "dot", "convolution", "matmul", "batch_matmul"},
             Rule::Two)
      .Cases({"broadcast", "broadcast_in_dim", "dynamic_gather", "fft", "gather"}, Rule::First)
      .Cases({"divide", "div", "divf"}, Rule::First) // a divisor scales
      .Cases({"clamp", "select_and_scatter", "triangular_solve"}, Rule::Second)
      .Cases({"scatter"}, Rule::All)
      .Cases({"reduce", "reduce_window", "sort"}, Rule::SamePosition)
      .Default(Rule::Kept);
}

/// A reduction that multiplies elements, or joins bits.
static bool isProduct(Operation *op) {
  bool found = false;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      found |= llvm::is_contained({"multiply", "and", "or", "xor"}, inner->getName().stripDialect());
    });
  return found;
}

SmallVector<Value> cgx::getSignOperands(OpResult result) {
  Operation *op = result.getOwner();
  const auto at = [&](unsigned i) {
    return op->getNumOperands() > i ? SmallVector<Value>{op->getOperand(i)} : SmallVector<Value>();
  };
  // LAPACK's solution with a triangular matrix, its first operand, is linear in the second.
  if (auto target = op->getAttrOfType<StringAttr>("call_target_name");
      target && target.getValue().contains("trsm"))
    return at(1);
  switch (getRule(op->getName().stripDialect())) {
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
    return at(op->getNumOperands() > 1 ? 1 : 0); // the bounds of tosa's clamp are attributes
  case Rule::SamePosition:
    return isProduct(op) ? SmallVector<Value>() : at(result.getResultNumber());
  }
  llvm_unreachable("every rule is handled");
}

bool cgx::isSquare(Operation *op) {
  return getRule(op->getName().stripDialect()) == Rule::Two && op->getNumOperands() > 1 &&
         isScaledSame(op->getOperand(0), op->getOperand(1));
}

//===----------------------------------------------------------------------===//
// Equal signs
//===----------------------------------------------------------------------===//

/// An argument of the step itself is no gradient: the square of a parameter is the gradient of its third
/// power.
static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(getScaledBase(value));
  return argument && isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

static ElementSigns getSignsOfProduct(Operation *op, function_ref<ElementSigns(Value)> signsOf) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  const bool isElementwise = op->getName().stripDialect().starts_with("mul");
  if (isScaledSame(a, b) && !(isElementwise && isArgument(a)))
    return ElementSigns::Equal;
  ElementSigns left = signsOf(a), right = signsOf(b);
  const auto isNegative = [](Value value) {
    std::optional<APFloat> splat = getConstantSplat(value);
    return splat && splat->isNegative() && !splat->isZero();
  };
  // One number for all elements scales them, whatever its sign is, unless that is known. Of a single
  // element, it decides the sign.
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

/// Even powers of what is no argument; others have the signs of their base.
static ElementSigns getSignsOfPower(Operation *op, function_ref<ElementSigns(Value)> signsOf) {
  std::optional<APFloat> exponent = getConstantSplat(op->getOperand(1));
  const bool isEven = exponent && exponent->isInteger() && std::fmod(exponent->convertToDouble(), 2) == 0;
  return isEven && !isArgument(op->getOperand(0)) ? ElementSigns::Equal : signsOf(op->getOperand(0));
}

/// A mask is 0 or 1; other integers are not looked at.
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
  StringRef name = op->getName().stripDialect();
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
  const bool isBinary = count == 2;
  if (isBinary && llvm::is_contained({"multiply", "mul", "mulf", "dot_general", "dot", "matmul"}, name))
    return getSignsOfProduct(op, signsOf);
  if (isBinary && llvm::is_contained({"divide", "divf"}, name))
    return isScalarEverywhere(op->getOperand(1)) && !isSingle(result) ? signsOf(op->getOperand(0))
                                                                      : joinAll(0, count);
  if (isBinary && name == "power")
    return getSignsOfPower(op, signsOf);
  if (llvm::is_contained({"abs", "absf", "square"}, name))
    return isArgument(op->getOperand(0)) ? ElementSigns::Mixed : ElementSigns::Equal;
  if (llvm::is_contained({"sqrt", "rsqrt", "exponential", "exp"}, name))
    return ElementSigns::Equal;
  if (name == "convert")
    return getSignsOfConvert(op, signsOf);
  if (llvm::is_contained({"add", "addf", "concatenate", "concat", "maximum", "minimum", "pad", "scatter"},
                         name))
    return joinAll(0, count);
  if (name == "select")
    return joinAll(1, count);
  if (name == "clamp")
    return signsOf(op->getOperand(1));
  if (name == "dynamic_update_slice")
    return joinAll(0, 2);
  if (name == "optimization_barrier")
    return signsOf(op->getOperand(result.getResultNumber()));
  if (name == "reduce" || name == "reduce_window")
    return isProduct(op) ? ElementSigns::Mixed : signsOf(op->getOperand(result.getResultNumber()));
  const bool keepsSigns =
      llvm::is_contained({"broadcast", "broadcast_in_dim", "copy", "dynamic_slice", "gather",
                          "reduce_precision", "reshape", "reverse", "slice", "transpose"},
                         name);
  return keepsSigns ? signsOf(op->getOperand(0)) : ElementSigns::Mixed;
}
