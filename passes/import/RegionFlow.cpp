//===-- RegionFlow.cpp - how values pass through regions ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/RegionFlow.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

/// Calls `visit(point, successor, operands)` for each way from an op or the end of one of its regions.
template <typename Visitor> static void forEachEdge(RegionBranchOpInterface branch, Visitor visit) {
  for (RegionBranchPoint point : branch.getAllRegionBranchPoints()) {
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(point, successors);
    for (RegionSuccessor successor : successors)
      visit(point, successor, branch.getSuccessorOperands(point, successor));
  }
}

SmallVector<cgx::RegionEdge> cgx::getRegionEdges(Operation *op) {
  SmallVector<RegionEdge> edges;
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch)
    return edges;
  forEachEdge(branch, [&](RegionBranchPoint point, RegionSuccessor successor, OperandRange operands) {
    Operation *end = point.getTerminatorPredecessorOrNull();
    Region *target = successor.getSuccessor();
    edges.push_back(
        {.from = llvm::to_vector(operands),
         .to = llvm::to_vector(successor.getSuccessorInputs()),
         .isEntry = !end,
         .isBack = end && target && target->getRegionNumber() <= end->getParentRegion()->getRegionNumber()});
  });
  return edges;
}

/// Returns the op with regions that determines the values that come into `value`; null if there is none.
static RegionBranchOpInterface getBranch(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return dyn_cast_or_null<RegionBranchOpInterface>(argument ? argument.getOwner()->getParentOp()
                                                            : value.getDefiningOp());
}

SmallVector<Value> cgx::getIncomingValues(Value value) {
  SmallVector<Value> incoming;
  RegionBranchOpInterface branch = getBranch(value);
  if (!branch)
    return incoming;
  auto argument = dyn_cast<BlockArgument>(value);
  unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  forEachEdge(branch, [&](RegionBranchPoint, RegionSuccessor successor, OperandRange operands) {
    ValueRange inputs = successor.getSuccessorInputs();
    // Inputs stand in the order of the arguments or results, but leave out such as the counter of a loop.
    for (size_t i = std::min<size_t>(number + 1, inputs.size()); i-- > 0;)
      if (inputs[i] == value) {
        incoming.push_back(operands[i]);
        break;
      } else if (inputs[i].getParentBlock() != value.getParentBlock()) {
        break; // another region's
      }
  });
  return incoming;
}

SmallVector<Value> cgx::getOutgoingValues(OpOperand &use) {
  SmallVector<Value> outgoing;
  Operation *op = use.getOwner();
  const auto add = [&](RegionBranchOpInterface branch, RegionBranchPoint point) {
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(point, successors);
    for (RegionSuccessor successor : successors) {
      OperandRange operands = branch.getSuccessorOperands(point, successor);
      unsigned first = operands.empty() ? 0 : operands.getBeginOperandIndex();
      if (use.getOperandNumber() >= first && use.getOperandNumber() - first < operands.size())
        outgoing.push_back(successor.getSuccessorInputs()[use.getOperandNumber() - first]);
    }
  };
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    add(branch, RegionBranchPoint::parent());
  if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(op))
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op->getParentOp()))
      add(branch, end);
  return outgoing;
}

SmallVector<Value> cgx::getDecidingValues(Operation *op) {
  SmallVector<Value> deciding;
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch)
    return deciding;
  for (RegionBranchPoint point : branch.getAllRegionBranchPoints()) {
    // The operands between those that go somewhere: a loop may carry thousands.
    SmallVector<std::pair<unsigned, unsigned>> passed;
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(point, successors);
    for (RegionSuccessor successor : successors)
      if (OperandRange operands = branch.getSuccessorOperands(point, successor); !operands.empty())
        passed.emplace_back(operands.getBeginOperandIndex(),
                            operands.getBeginOperandIndex() + operands.size());
    Operation *from = point.isParent() ? op : point.getTerminatorPredecessorOrNull();
    passed.emplace_back(from->getNumOperands(), from->getNumOperands());
    llvm::sort(passed);
    unsigned next = 0;
    for (auto [begin, end] : passed) {
      for (; next < begin; ++next)
        deciding.push_back(from->getOperand(next));
      next = std::max(next, end);
    }
  }
  return deciding;
}

/// Returns the value that one op with regions always takes for `value`, if it only passes it around; else
/// `value`.
static Value throughOneOp(Value value) {
  Operation *branch = getBranch(value);
  if (!branch)
    return value;
  Value outside;
  llvm::SetVector<Value> passed;
  passed.insert(value);
  for (size_t i = 0; i < passed.size(); ++i)
    for (Value incoming : cgx::getIncomingValues(passed[i])) {
      if (getBranch(incoming).getOperation() == branch) {
        passed.insert(incoming);
        continue;
      }
      if (outside && outside != incoming)
        return value;
      outside = incoming;
    }
  // A value that is made inside of the op differs in each round.
  bool isOutside = outside && !branch->isAncestor(outside.getParentBlock()->getParentOp());
  return isOutside ? outside : value;
}

Value cgx::throughRegions(Value value) {
  while (true) {
    Value next = throughOneOp(value);
    if (next == value)
      return value;
    value = next;
  }
}
