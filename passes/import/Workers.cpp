//===-- Workers.cpp - ranks that train together in local training ---------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace cgx;

Workers::Workers(MeshAttr mesh, ArrayRef<Attribute> axes)
    : groups(mesh.getGroupsOver(
          llvm::map_to_vector(axes, [](Attribute axis) { return cast<StringAttr>(axis).getValue(); }))) {
  for (DenseI64ArrayAttr row : groups.getRows())
    for (auto [worker, rank] : llvm::enumerate(row.asArrayRef()))
      workerOf[rank] = worker;
}

bool Workers::isInside(GroupsAttr other) const {
  return other != groups && llvm::all_of(other.getRows(), [&](DenseI64ArrayAttr row) {
           return llvm::all_of(row.asArrayRef(), [&](int64_t rank) {
             return workerOf.lookup(rank) == workerOf.lookup(row[0]);
           });
         });
}

std::optional<SmallVector<SmallVector<int64_t>>> Workers::split(GroupsAttr other) const {
  SmallVector<SmallVector<int64_t>> parts;
  for (DenseI64ArrayAttr row : other.getRows()) {
    SmallVector<SmallVector<int64_t>> byWorker(getCount());
    for (int64_t rank : row.asArrayRef())
      byWorker[workerOf.lookup(rank)].push_back(rank);
    if (llvm::any_of(byWorker, [&](ArrayRef<int64_t> part) {
          return part.empty() || part.size() != byWorker.front().size();
        }))
      return std::nullopt;
    llvm::append_range(parts, byWorker);
  }
  return parts;
}

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
