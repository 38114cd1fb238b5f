//===-- RegionFlow.cpp - control flow interfaces ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the interfaces by which upstream's analyses query ops with regions. Types along an edge may
// differ in dimensions that only one side knows: the verifiers of the ops report errors in them, in the words
// of the specification.
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// The condition returns only whether there is another round. The values that it takes are those that the
/// body takes or the loop returns, so these come from the operands and from the body.
void WhileOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  Operation *end = point.getTerminatorPredecessorOrNull();
  if (end && end->getParentRegion() == &getCond())
    return;
  successors.emplace_back(&getCond(), getCond().getArguments());
  successors.emplace_back(&getBody(), getBody().getArguments());
  successors.emplace_back(getOperation(), getResults());
}

OperandRange WhileOp::getEntrySuccessorOperands(RegionSuccessor) { return getOperand(); }

bool WhileOp::areTypesCompatible(Type, Type) { return true; }

/// One of the regions runs, and the op gives what it returns.
static void getOneOfRegions(Operation *op, RegionBranchPoint point,
                            SmallVectorImpl<RegionSuccessor> &successors) {
  if (!point.isParent()) {
    successors.emplace_back(op, op->getResults());
    return;
  }
  for (Region &region : op->getRegions())
    successors.emplace_back(&region);
}

void IfOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOneOfRegions(*this, point, successors);
}

bool IfOp::areTypesCompatible(Type, Type) { return true; }

void CaseOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  getOneOfRegions(*this, point, successors);
}

bool CaseOp::areTypesCompatible(Type, Type) { return true; }
