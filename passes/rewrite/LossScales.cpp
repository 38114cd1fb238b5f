//===-- LossScales.cpp - Numbers that gradients are scaled by -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossScales.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/RegionFlow.h"

#include "mlir/IR/Matchers.h"

namespace cgx {

using namespace mlir;

Value getBroadcastNumber(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  while (type && type.getRank() != 0) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp, stablehlo::ConvertOp>(op))
      return {};
    value = op->getOperand(0);
    type = dyn_cast<RankedTensorType>(value.getType());
  }
  return type ? value : Value();
}

bool isConstantFactor(Value value) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return elements.isSplat();
  Value number = getBroadcastNumber(value);
  return number && matchPattern(number, m_Constant());
}

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Returns all values that `value` is computed from, through any op.
static llvm::DenseSet<Value> getAllSources(Value value) {
  llvm::DenseSet<Value> seen{value};
  SmallVector<Value> worklist{value};
  const auto push = [&](Value next) {
    if (seen.insert(next).second)
      worklist.push_back(next);
  };
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    for (Value incoming : getIncomingValues(next))
      push(incoming);
    if (Operation *op = next.getDefiningOp()) {
      for (Value operand : op->getOperands())
        push(operand);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &nested : block)
            for (Value operand : nested.getOperands())
              push(operand);
    }
  }
  return seen;
}

/// Returns the argument, a single float, that the number is computed from and that the step does not hand on
/// unchanged.
std::optional<unsigned> LossScales::findChangingArgument(Value number) {
  Operation *terminator = step.getFunctionBody().front().getTerminator();
  std::optional<unsigned> first; // whatever order a set has
  for (Value source : getAllSources(number)) {
    auto argument = dyn_cast<BlockArgument>(source);
    if (!argument || argument.getOwner() != &step.getFunctionBody().front() || !isFloatTensor(argument) ||
        cast<RankedTensorType>(argument.getType()).getRank() != 0 ||
        llvm::is_contained(terminator->getOperands(), source))
      continue;
    first = std::min(first.value_or(argument.getArgNumber()), argument.getArgNumber());
  }
  return first;
}

std::optional<unsigned> LossScales::getChangingArgument(Value number) {
  auto [known, isNew] = arguments.try_emplace(number, std::nullopt);
  if (isNew)
    known->second = findChangingArgument(number);
  return known->second;
}

bool LossScales::isComputedWith(Value value, unsigned argument) {
  auto [known, isNew] = computed.try_emplace(argument);
  llvm::DenseSet<Value> &made = known->second;
  if (isNew) {
    SmallVector<Value> worklist{step.getArgument(argument)};
    made.insert(worklist.front());
    const auto push = [&](ValueRange values) {
      for (Value next : values)
        if (made.insert(next).second)
          worklist.push_back(next);
    };
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val().getUsers()) {
        push(user->getResults());
        // An op with regions may use the value in all of its regions and results.
        for (Region &region : user->getRegions())
          push(region.getArguments());
        for (Operation *parent = user->getParentOp(); parent && parent != step;
             parent = parent->getParentOp())
          push(parent->getResults());
      }
  }
  return made.contains(value);
}

/// Returns a number without changes of its type.
static Value withoutConverts(Value number) {
  while (auto convert = number.getDefiningOp<stablehlo::ConvertOp>())
    number = convert.getOperand();
  return number;
}

/// Returns whether `input` is divided by `number` right before it travels; a later multiplication only undoes
/// that.
static bool isDividedBefore(Value input, Value number) {
  auto made = input.getDefiningOp<stablehlo::DivOp>();
  Value divisor = made ? getBroadcastNumber(made->getOperand(1)) : Value();
  return divisor && withoutConverts(divisor) == withoutConverts(number);
}

std::optional<LossScale> LossScales::find(CollectiveOpInterface op, unsigned operand) {
  struct Way {
    Value value;
    SmallVector<Operation *> maps;
  };
  constexpr unsigned most = 16; // ops that are looked at
  SmallVector<Way> worklist{{op.getResultTensors()[operand], {}}};
  for (unsigned looked = 0; !worklist.empty() && looked < most;) {
    Way way = worklist.pop_back_val();
    for (OpOperand &use : way.value.getUses()) {
      Operation *user = use.getOwner();
      if (++looked > most)
        break;
      Way next = way;
      next.maps.push_back(user);
      if (isa<stablehlo::DivOp, stablehlo::MulOp>(user)) {
        const unsigned other = 1 - use.getOperandNumber();
        const bool isDivisor = isa<stablehlo::DivOp>(user);
        if (isDivisor && other == 0)
          continue;
        if (!isConstantFactor(user->getOperand(other))) {
          Value number = getBroadcastNumber(user->getOperand(other));
          if (!number || !isFloatTensor(number))
            continue;
          std::optional<unsigned> argument = getChangingArgument(number);
          if (argument && (isDivisor || !isDividedBefore(op.getInputs()[operand], number)) &&
              isComputedWith(op.getInputs()[operand], *argument))
            return LossScale{number, isDivisor, *argument, std::move(next.maps)};
          continue;
        }
      } else if (!isa<stablehlo::ConvertOp, stablehlo::ReshapeOp, stablehlo::TransposeOp>(user)) {
        continue;
      }
      if (isFloatTensor(user->getResult(0)))
        worklist.push_back({user->getResult(0), std::move(next.maps)});
    }
  }
  return std::nullopt;
}

} // namespace cgx
