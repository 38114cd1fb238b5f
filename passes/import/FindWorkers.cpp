//===-- FindWorkers.cpp - The ranks that train by themselves ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FindWorkers.h"

#include "Workers.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace cgx {

namespace {

/// Returns the axes of the mesh along which the ranks of one group differ, if a group is all ranks along
/// them.
std::optional<SmallVector<Attribute>> findAxes(GroupsAttr groups, MeshAttr mesh) {
  const ArrayRef<int64_t> sizes = mesh.getSizes();
  const auto coordinateOf = [&](int64_t rank, size_t axis) {
    for (size_t i = sizes.size(); --i > axis;)
      rank /= sizes[i];
    return rank % sizes[axis];
  };
  SmallVector<Attribute> axes;
  int64_t product = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    if (llvm::any_of(groups.getRows(), [&](DenseI64ArrayAttr row) {
          return llvm::any_of(row.asArrayRef(), [&](int64_t rank) {
            return coordinateOf(rank, axis) != coordinateOf(row[0], axis);
          });
        })) {
      axes.push_back(mesh.getAxes()[axis]);
      product *= sizes[axis];
    }
  if (llvm::any_of(groups.getRows(), [&](DenseI64ArrayAttr row) { return row.size() != product; }))
    return std::nullopt;
  return axes;
}

class Finder {
public:
  Finder(func::FuncOp step, ArrayRef<std::string> across)
      : step(step), module(step->getParentOfType<ModuleOp>()), across(across), builder(step.getContext()) {}

  FailureOr<FoundWorkers> find() {
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName);
    if (across.empty()) {
      if (failed(walkOperands([&](CollectiveOpInterface op, unsigned i) { return takeGroups(op, i); })))
        return failure();
      if (!reduced)
        return step.emitError("local steps: expected gradients that are all-reduced, found none in the step");
      if (!mesh) {
        auto ranks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
        mesh = MeshAttr::get(builder.getContext(), builder.getStringAttr("rank"), ranks.getInt());
        module->setAttr(kMeshAttrName, mesh);
      }
      std::optional<SmallVector<Attribute>> found = findAxes(reduced, mesh);
      if (!found)
        return step.emitError(
                   "local steps: expected gradients to be reduced over all ranks along axes of the "
                   "mesh, got groups ")
               << reduced;
      axes = *found;
    } else if (failed(takeAxes(mesh))) {
      return failure();
    }
    const Workers workers(mesh, axes);
    if (failed(
            walkOperands([&](CollectiveOpInterface op, unsigned i) { return checkOperand(op, i, workers); })))
      return failure();
    return FoundWorkers{mesh, axes, reduced};
  }

private:
  LogicalResult walkOperands(function_ref<LogicalResult(CollectiveOpInterface, unsigned)> check) {
    WalkResult walk = step.walk([&](CollectiveOpInterface op) {
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        if (failed(check(op, i)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  static std::string begin(CollectiveOpInterface op, unsigned operand) {
    return "local steps: layer '" + op.getLayer(operand).getName().str() + "': ";
  }

  static bool isAllReduced(CollectiveOpInterface op) {
    auto reduce = dyn_cast<AllReduceOp>(op.getOperation());
    return reduce && !op.isStarted() &&
           (reduce.getReduction() == Reduction::Sum || reduce.getReduction() == Reduction::Mean);
  }

  /// Checks that all gradients are reduced over the same ranks, if no axes were asked for.
  LogicalResult takeGroups(CollectiveOpInterface op, unsigned operand) {
    if (op.getLayer(operand).getKind() != LayerKind::Gradient)
      return success();
    if (!isAllReduced(op))
      return op.emitError(begin(op, operand))
             << "expected a gradient that is all-reduced by sum or mean, so that each rank "
                "has the whole parameter, got "
             << (op.isStarted() ? "a started " : "") << op.getKind()
             << "; if ranks that share parameters are to train together, name the axes of the "
             << "mesh between these groups of ranks, as axes=replica";
    if (reduced && reduced != op.getGroups())
      return op.emitError(begin(op, operand))
             << "expected all gradients to be reduced over the same ranks, got groups " << op.getGroups()
             << " after " << reduced << "; axes= says between which ranks there are to be outer steps";
    reduced = op.getGroups();
    return success();
  }

  LogicalResult takeAxes(MeshAttr mesh) {
    if (!mesh)
      return step.emitError("local steps: expected a mesh with the axes ")
             << llvm::join(across, ", ") << ", but the step has none";
    for (const std::string &name : across) {
      if (!mesh.getAxisSize(name))
        return step.emitError("local steps: expected axes to be some of the mesh ")
               << mesh << ", got '" << name << "'";
      if (llvm::is_contained(axes, builder.getStringAttr(name)))
        return step.emitError("local steps: expected each of axes once, got '") << name << "' twice";
      axes.push_back(builder.getStringAttr(name));
    }
    return success();
  }

  LogicalResult checkOperand(CollectiveOpInterface op, unsigned i, const Workers &workers) {
    const LayerKind kind = op.getLayer(i).getKind();
    if (kind == LayerKind::OuterGradient)
      return op.emitError(begin(op, i)) << "the step trains locally already, it has an outer gradient";
    if (workers.isInside(op.getGroups()))
      return success();
    if (kind == LayerKind::Gradient) {
      if (!isAllReduced(op) || !workers.split(op.getGroups()))
        return op.emitError(begin(op, i))
               << "expected a gradient that leaves the ranks that train together to be all-reduced over all "
               << "ranks along axes [" << llvm::join(across, ", ") << "], by sum or mean, got "
               << (op.isStarted() ? "a started " : "") << op.getKind() << " over " << op.getGroups();
      reduced = op.getGroups();
      return success();
    }
    if (kind == LayerKind::Weight || isActivationKind(kind))
      return op.emitError(begin(op, i))
             << "expected nothing but gradients and statistics to travel "
             << "between the ranks that train by themselves, got a collective of kind "
             << stringifyLayerKind(kind);
    return success();
  }

  func::FuncOp step;
  ModuleOp module;
  ArrayRef<std::string> across;
  Builder builder;
  SmallVector<Attribute> axes;
  GroupsAttr reduced;
};

} // namespace

FailureOr<FoundWorkers> findWorkers(func::FuncOp step, ArrayRef<std::string> across) {
  return Finder(step, across).find();
}

} // namespace cgx
