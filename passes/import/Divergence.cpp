//===-- Divergence.cpp - what ranks no longer hold alike ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Divergence.h"

using namespace mlir;
using namespace cgx;

bool Divergence::dependsOnSome(Operation &op) const {
  const auto isSome = [&](Value value) { return values.contains(value); };
  if (op.getNumRegions() == 0)
    return llvm::any_of(op.getOperands(), isSome);
  return op
      .walk(
          [&](Operation *inner) { return WalkResult(success(llvm::none_of(inner->getOperands(), isSome))); })
      .wasInterrupted();
}

Divergence::Divergence(func::FuncOp step, const StepState &state, ArrayRef<Value> sources,
                       function_ref<bool(Operation &)> agrees) {
  values.insert_range(sources);
  Block &body = step.getBody().front();
  // Until no more of the state differs.
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &op : body.without_terminator())
      if (dependsOnSome(op) && !agrees(op))
        values.insert_range(op.getResults());
    for (auto [result, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (std::optional<unsigned> argument = state.getFedArgument(result); argument && contains(value))
        changed |= values.insert(step.getArgument(*argument)).second;
  }
}
