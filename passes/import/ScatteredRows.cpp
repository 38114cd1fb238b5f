//===-- ScatteredRows.cpp - Rows that are added into a table --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/ScatteredRows.h"

#include "KeptElements.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cgx;

/// Returns whether a scatter into one table adds to its elements.
static bool isAddingScatter(stablehlo::ScatterOp scatter) {
  if (scatter->getNumOperands() != 3 || scatter->getNumResults() != 1)
    return false;
  Block &body = scatter->getRegion(0).front();
  return llvm::hasNItems(body, 2) && isa<stablehlo::AddOp>(body.front());
}

/// Returns whether `value` is computed from a block argument.
static bool dependsOnArguments(Value value) {
  llvm::SetVector<Value> needed;
  needed.insert(value);
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i].getDefiningOp();
    if (!op || op->getNumRegions() != 0)
      return true;
    for (Value operand : op->getOperands())
      needed.insert(operand);
  }
  return false;
}

ScatteredRows::ScatteredRows(Operation *root) {
  root->walk([&](stablehlo::ScatterOp scatter) {
    if (!isAddingScatter(scatter))
      return;
    const Sum sum = {scatter->getOperand(0), scatter->getResult(0),
                     dependsOnArguments(scatter->getOperand(1))};
    llvm::SetVector<Value> made;
    made.insert(scatter->getOperand(2));
    for (size_t i = 0; i < made.size(); ++i) {
      auto result = dyn_cast<OpResult>(made[i]);
      if (!result)
        continue;
      if (isa<CollectiveOpInterface>(result.getOwner()))
        sums[result].push_back(sum);
      else
        for (Value operand : getOperandsInOrder(result))
          made.insert(operand);
    }
  });
}

ArrayRef<ScatteredRows::Sum> ScatteredRows::getSums(Value result) const {
  auto known = sums.find(result);
  return known == sums.end() ? ArrayRef<Sum>() : ArrayRef<Sum>(known->second);
}
