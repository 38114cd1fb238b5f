//===-- StepRuns.cpp - How often an operation runs in a step --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/StepRuns.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace cgx {

std::optional<int64_t> getConstantInteger(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.getNumElements() != 1)
    return std::nullopt;
  return (*elements.begin()).trySExtValue();
}

/// Returns the number of the argument of a loop's region that `value` is; nothing if it is none.
static std::optional<unsigned> argumentOf(Value value, Region &region) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &region.front())
    return std::nullopt;
  return argument.getArgNumber();
}

// cond: i < n     body: ..., i + 1
std::optional<CountedLoop> getCountedLoop(stablehlo::WhileOp loop) {
  Operation *condition = loop.getCond().front().getTerminator(),
            *yield = loop.getBody().front().getTerminator();
  auto compare = condition->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getComparisonDirection() != stablehlo::ComparisonDirection::LT)
    return std::nullopt;
  std::optional<unsigned> counter = argumentOf(compare.getLhs(), loop.getCond());
  std::optional<int64_t> end = getConstantInteger(compare.getRhs());
  if (!counter || !end)
    return std::nullopt;
  std::optional<int64_t> begin = getConstantInteger(loop.getOperand()[*counter]);
  auto next = yield->getOperand(*counter).getDefiningOp<stablehlo::AddOp>();
  if (!begin || !next || argumentOf(next.getLhs(), loop.getBody()) != counter ||
      getConstantInteger(next.getRhs()) != 1)
    return std::nullopt;
  return CountedLoop{*counter, *begin, static_cast<uint64_t>(std::max<int64_t>(*end - *begin, 0))};
}

std::optional<uint64_t> getRunsPerStep(Operation *op) {
  uint64_t runs = 1;
  for (Operation *parent = op->getParentOp(); parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp()) {
    auto start = dyn_cast<StartOp>(parent);
    if ((start && !start.getCondition()) || parent->hasAttr(kEveryAttrName))
      continue;
    auto loop = dyn_cast<stablehlo::WhileOp>(parent);
    std::optional<CountedLoop> counted = loop ? getCountedLoop(loop) : std::nullopt;
    if (!counted)
      return std::nullopt;
    runs *= counted->trips;
  }
  return runs;
}

uint64_t getStepsPerRun(Operation *op) {
  uint64_t steps = 1;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (auto every = parent->getAttrOfType<IntegerAttr>(kEveryAttrName))
      steps *= every.getInt();
  return steps;
}

uint64_t getTurn(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (auto every = parent->getAttrOfType<IntegerAttr>(kEveryAttrName)) {
      auto turn = parent->getAttrOfType<IntegerAttr>(kTurnAttrName);
      return (turn ? turn : every).getInt();
    }
  return 1;
}

} // namespace cgx
