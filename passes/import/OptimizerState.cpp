//===-- OptimizerState.cpp - the optimizer state of a parameter -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/OptimizerState.h"

#include "KeptElements.h"
#include "StepState.h"
#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/layers/Compress.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// The learning rate
//===----------------------------------------------------------------------===//

/// Returns whether all elements are 1, or all are -1.
static bool isUnit(Value value) {
  DenseFPElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat() &&
         llvm::abs(constant.getSplatValue<APFloat>()).isExactlyValue(1.0);
}

/// Returns the operand that a value is everywhere, but for its sign; null if there is none.
static Value getOperandButForSign(OpResult value) {
  Operation *op = value.getOwner();
  if (isa<stablehlo::MulOp>(op))
    return isUnit(op->getOperand(0))   ? op->getOperand(1)
           : isUnit(op->getOperand(1)) ? op->getOperand(0)
                                       : Value();
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return op->getOperand(value.getResultNumber());
  // A broadcast and a reshape of a scalar; a convert of one rounds it to what the update is computed in.
  const bool isSame = isa<stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp, stablehlo::ReshapeOp,
                          stablehlo::ConvertOp, stablehlo::NegOp>(op);
  return isSame ? op->getOperand(0) : Value();
}

/// Returns the argument of the step, a single f32, that a value is everywhere, but for its sign; null if
/// there is none.
static BlockArgument getScalarArgument(Value value) {
  while (auto result = dyn_cast_if_present<OpResult>(value))
    value = getOperandButForSign(result);
  auto argument = dyn_cast_if_present<BlockArgument>(value);
  if (!argument || !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) ||
      getElementCount(argument) != 1 || !getElementTypeOrSelf(argument.getType()).isF32())
    return {};
  return argument;
}

/// Returns the arguments, single f32 numbers, that may be the learning rate of a parameter: each way of the
/// `reduced` gradient to the parameter's `next` value leads through a product with it, or with its negative,
/// and each of the next values of `moments` has a way that does not. So the factor of a loss that was scaled
/// is none.
///
///     %m1 = 0.9 %m + %r                         feeds m, without %eta
///     %w1 = %w - %eta * %m1                     feeds w
static SmallVector<BlockArgument> findLearningRates(Value reduced, Value next, ArrayRef<Value> moments) {
  const ValueSet followed = followInOrder(reduced, [&](Value value) { return value == next; });
  llvm::DenseMap<Value, ValueSet> products;
  for (Value value : followed)
    if (auto product = value.getDefiningOp<stablehlo::MulOp>())
      for (unsigned i : {0, 1})
        if (followed.contains(product->getOperand(i)))
          if (BlockArgument factor = getScalarArgument(product->getOperand(1 - i)))
            products[factor].insert(value);
  SmallVector<BlockArgument> rates;
  for (const auto &[factor, made] : products) {
    const ValueSet before = followInOrder(reduced, [&](Value value) { return made.contains(value); });
    const auto hasWayWithout = [&](Value value) { return before.contains(value) && !made.contains(value); };
    if (!hasWayWithout(next) && llvm::all_of(moments, hasWayWithout))
      rates.push_back(cast<BlockArgument>(factor));
  }
  llvm::sort(rates, [](BlockArgument a, BlockArgument b) { return a.getArgNumber() < b.getArgNumber(); });
  return rates;
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

OptimizerState::OptimizerState(func::FuncOp step)
    : entry(&step.getBody().front()), state(std::make_unique<StepState>(step)) {
  for (unsigned i = 0; i < state->getArgumentCount(); ++i)
    if (state->isState(i) && state->getFloatType(i)) {
      argumentOf.try_emplace(state->getPath(i).getLayerName(), i);
      updatedBy[getNextValue(i)].push_back(i);
    }
}
OptimizerState::~OptimizerState() = default;

/// Returns whether the values between `gradient` and `value`, all in `followed`, multiply the gradient by
/// itself.
static bool isMadeOfSquares(Value value, Value gradient, const ValueSet &followed) {
  SmallVector<Value> worklist = {value};
  ValueSet seen;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    auto result = dyn_cast<OpResult>(current);
    if (current == gradient || !result || !seen.insert(current).second)
      continue;
    SmallVector<Value> made = getOperandsInOrder(result);
    llvm::erase_if(made, [&](Value operand) { return !followed.contains(operand); });
    Operation *op = result.getOwner();
    if ((isa<stablehlo::MulOp>(op) && made.size() == 2) ||
        (isa<stablehlo::PowOp, chlo::SquareOp>(op) && !made.empty()))
      return true;
    worklist.append(made);
  }
  return false;
}

Value OptimizerState::getNextValue(unsigned argument) const {
  return entry->getTerminator()->getOperand(*state->getFeedingResult(argument));
}

SmallVector<unsigned> OptimizerState::getUpdated(const ValueSet &values) const {
  SmallVector<unsigned> arguments;
  for (Value value : values)
    llvm::append_range(arguments, updatedBy.lookup(value));
  llvm::sort(arguments);
  return arguments;
}

std::string OptimizerState::getNames(ArrayRef<unsigned> arguments) const {
  auto names = llvm::map_to_vector(arguments, [&](unsigned i) { return state->getPath(i).getLayerName(); });
  return names.empty() ? "none" : llvm::join(names, ", ");
}

FailureOr<OptimizerState::Arguments> OptimizerState::find(Value reduced, LayerAttr layer,
                                                          CodecAttrInterface codec,
                                                          const EmitError &emitError) const {
  const auto of = [&] { return emitError() << "layer '" << layer.getName() << "': "; };
  auto fail = [&] {
    return of() << "codec " << codec.getFamily() << " reads what the optimizer keeps of it: ";
  };
  auto named = argumentOf.find(layer.getName());
  if (named == argumentOf.end()) // The second gradient of a parameter: `params/w#2`.
    named = argumentOf.find(layer.getName().rsplit('#').first);
  if (named == argumentOf.end())
    return of() << layers::describeMissingState(codec.getFamily());
  unsigned parameter = named->second;
  Value next = getNextValue(parameter);
  const auto isNext = [&](Value value) { return value == next; };
  ValueSet followed = followInOrder(reduced, isNext);
  if (!followed.contains(next))
    return fail() << "expected the argument of that name, of type " << state->getFloatType(parameter)
                  << ", to be updated by the reduced " << reduced.getType()
                  << ", element by element in their order, which it is not";

  std::array<SmallVector<unsigned>, CGX_KEPT_COUNT> found;
  found[CGX_KEPT_PARAMETER] = {parameter};
  for (unsigned i : getUpdated(followed)) {
    // State that is replaced, such as the last gradient, is no moment.
    if (i != parameter && followInOrder(entry->getArgument(i), isNext).contains(getNextValue(i)))
      found[isMadeOfSquares(getNextValue(i), reduced, followed) ? CGX_KEPT_SECOND_MOMENT
                                                                : CGX_KEPT_FIRST_MOMENT]
          .push_back(i);
  }
  Arguments arguments;
  SmallVector<Value> moments;
  for (uint32_t kept = 0; kept < CGX_KEPT_TENSORS; ++kept) {
    if (!codec.readsKept(static_cast<Kept>(kept)))
      continue;
    if (found[kept].size() != 1)
      return fail() << "expected one argument of " << getElementCount(reduced) << " elements to be its "
                    << stringifyKept(static_cast<Kept>(kept)) << ", found " << getNames(found[kept]);
    arguments[kept] = entry->getArgument(found[kept].front());
    if (kept != CGX_KEPT_PARAMETER)
      moments.push_back(getNextValue(found[kept].front()));
  }
  if (!codec.readsKept(Kept::LearningRate))
    return arguments;
  SmallVector<BlockArgument> rates = findLearningRates(reduced, next, moments);
  if (rates.size() != 1) {
    auto numbers = llvm::map_to_vector(rates, [](BlockArgument rate) { return rate.getArgNumber(); });
    return fail() << "expected one argument, an f32 that multiplies its update and no moment, to be its "
                  << stringifyKept(Kept::LearningRate) << ", found " << getNames(numbers)
                  << "; the codec's own learning_rate is for a constant one, or one that the step computes";
  }
  arguments[CGX_KEPT_LEARNING_RATE] = rates.front();
  return arguments;
}
