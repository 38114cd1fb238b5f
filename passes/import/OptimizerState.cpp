//===-- OptimizerState.cpp - what a step keeps of a parameter -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/OptimizerState.h"

#include "KeptElements.h"
#include "StepState.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cgx;

using ValueSet = llvm::DenseSet<Value>;

OptimizerState::OptimizerState(func::FuncOp step)
    : entry(&step.getBody().front()), state(std::make_unique<StepState>(step)) {
  for (unsigned i = 0; i < state->getArgumentCount(); ++i)
    if (state->isState(i) && state->getFloatType(i)) {
      argumentOf.try_emplace(state->getPath(i).getLayerName(), i);
      updatedBy[getNextValue(i)].push_back(i);
    }
}
OptimizerState::~OptimizerState() = default;

/// Dimensions of more than one element stay in their order when dimension i goes to where[i].
static bool keepsOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> where) {
  int64_t last = -1;
  for (auto [size, to] : llvm::zip_equal(shape, where)) {
    if (size == 1)
      continue;
    if (to < last)
      return false;
    last = to;
  }
  return true;
}

/// The op gives the elements of an operand that it keeps in the order in which they lie in memory.
static bool keepsOrder(Operation *op) {
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    SmallVector<int64_t> where(transpose.getPermutation().size());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      where[from] = static_cast<int64_t>(to);
    return keepsOrder(cast<RankedTensorType>(transpose.getOperand().getType()).getShape(), where);
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return keepsOrder(cast<RankedTensorType>(broadcast.getOperand().getType()).getShape(),
                      broadcast.getBroadcastDimensions());
  return op->getName().getStringRef() != "stablehlo.reverse";
}

static int64_t getElementCount(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type.getNumElements() : -1;
}

/// The operands whose elements a value has, made from them one by one, in their order.
static SmallVector<Value> getOperandsInOrder(OpResult value) {
  if (!keepsOrder(value.getOwner()))
    return {};
  SmallVector<Value> kept = getKeptOperands(value);
  llvm::erase_if(kept, [&](Value operand) { return getElementCount(operand) != getElementCount(value); });
  return kept;
}

/// All values that have the elements of `from` in their order, but what is made of `end`.
static ValueSet followInOrder(Value from, Value end) {
  ValueSet followed = {from};
  SmallVector<Value> worklist = {from};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (value == end)
      continue;
    for (Operation *user : value.getUsers())
      for (OpResult result : user->getResults())
        if (llvm::is_contained(getOperandsInOrder(result), value) && followed.insert(result).second)
          worklist.push_back(result);
  }
  return followed;
}

/// Whether what lies between `gradient` and `value`, all of it in `followed`, multiplies the gradient by
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
    StringRef name = result.getOwner()->getName().stripDialect();
    if ((name == "multiply" && made.size() == 2) || ((name == "power" || name == "square") && !made.empty()))
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

FailureOr<OptimizerState::Arguments> OptimizerState::find(Value reduced, LayerAttr layer,
                                                          CodecAttrInterface codec,
                                                          const EmitError &emitError) const {
  auto fail = [&] {
    return emitError() << "layer '" << layer.getName() << "': codec " << codec.getFamily()
                       << " reads what the optimizer keeps of it: ";
  };
  auto named = argumentOf.find(layer.getName());
  if (named == argumentOf.end())
    return fail() << "expected an argument of that name that a result of the step updates, found none";
  unsigned parameter = named->second;
  Value next = getNextValue(parameter);
  ValueSet followed = followInOrder(reduced, next);
  if (!followed.contains(next))
    return fail() << "expected the argument of that name, of type " << state->getFloatType(parameter)
                  << ", to be updated by the reduced " << reduced.getType()
                  << ", element by element in their order, which it is not";

  std::array<SmallVector<unsigned>, CGX_KEPT_COUNT> found;
  found[CGX_KEPT_PARAMETER] = {parameter};
  for (unsigned i : getUpdated(followed)) {
    // State that is replaced, such as the last gradient, is no moment.
    if (i != parameter && followInOrder(entry->getArgument(i), next).contains(getNextValue(i)))
      found[isMadeOfSquares(getNextValue(i), reduced, followed) ? CGX_KEPT_SECOND_MOMENT
                                                                : CGX_KEPT_FIRST_MOMENT]
          .push_back(i);
  }
  Arguments arguments;
  for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept) {
    if (!codec.readsKept(static_cast<Kept>(kept)))
      continue;
    if (found[kept].size() != 1) {
      auto names =
          llvm::map_to_vector(found[kept], [&](unsigned i) { return state->getPath(i).getLayerName(); });
      return fail() << "expected one argument of " << getElementCount(reduced) << " elements to be its "
                    << stringifyKept(static_cast<Kept>(kept)) << ", found "
                    << (names.empty() ? "none" : llvm::join(names, ", "));
    }
    arguments[kept] = entry->getArgument(found[kept].front());
  }
  return arguments;
}
