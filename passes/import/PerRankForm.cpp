//===-- PerRankForm.cpp - what a per-rank program says of itself ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PerRankForm.h"

#include "Feeding.h"
#include "StepDataFlow.h"

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

Distribution Distribution::replicated(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  SmallVector<ArrayAttr> dimensions(tensor ? tensor.getRank() : 0, ArrayAttr::get(type.getContext(), {}));
  return {type, ShardingAttr::get(type.getContext(), dimensions)};
}

bool Distribution::isReplicated() const {
  return llvm::all_of(sharding.getDimensions(), [](ArrayAttr axes) { return axes.empty(); });
}

/// Split in the first dimension over all axes of the mesh, if there is one.
static Distribution getFirstDimensionSplit(Type local, MeshAttr mesh) {
  Distribution distribution = Distribution::replicated(local);
  auto tensor = dyn_cast<RankedTensorType>(local);
  if (!tensor || tensor.getRank() == 0)
    return distribution;
  SmallVector<int64_t> shape(tensor.getShape());
  shape.front() *= mesh.getNumRanks();
  distribution.globalType = tensor.clone(shape);
  SmallVector<ArrayAttr> dimensions(distribution.sharding.getDimensions());
  SmallVector<Attribute> axes(mesh.getAxes().begin(), mesh.getAxes().end());
  dimensions.front() = ArrayAttr::get(local.getContext(), axes);
  distribution.sharding = ShardingAttr::get(local.getContext(), dimensions);
  return distribution;
}

func::FuncOp cgx::findStep(ModuleOp module) {
  if (auto step = module.lookupSymbol<func::FuncOp>("main"))
    return step;
  func::FuncOp step;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (step) {
      module.emitError() << "expected a function @main or a single public function, got @" << step.getName()
                         << " and @" << function.getName();
      return {};
    }
    step = function;
  }
  if (!step)
    module.emitError() << "expected a function @main with the training step";
  return step;
}

//===----------------------------------------------------------------------===//
// The form
//===----------------------------------------------------------------------===//

/// What a partitioner was told of the global step is no longer true of a piece.
static void removeGlobalShardings(func::FuncOp step) {
  for (StringRef name : {"sdy.sharding", "mhlo.sharding"}) {
    StringAttr attribute = StringAttr::get(step.getContext(), name);
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      step.removeArgAttr(i, attribute);
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      step.removeResultAttr(i, attribute);
  }
}

static void setMesh(func::FuncOp step, MeshAttr mesh) {
  auto module = step->getParentOfType<ModuleOp>();
  if (!module->hasAttr(kMeshAttrName))
    module->setAttr(kMeshAttrName, mesh);
  if (!module->hasAttr(kNumRanksAttrName))
    module->setAttr(kNumRanksAttrName, Builder(module).getI64IntegerAttr(mesh.getNumRanks()));
}

/// Whether some result is made from the elements of the argument that it feeds.
static bool updatesState(func::FuncOp step, ArrayRef<std::optional<unsigned>> feeds) {
  StepDataFlow flow(step);
  for (auto [result, argument] : llvm::enumerate(feeds))
    if (argument && flow.getReachedResults(*argument)[result])
      return true;
  return false;
}

/// A step that takes parameters and returns their gradients has results under the
/// names of its arguments, too. It donates nothing and updates nothing.
static void setFeeds(func::FuncOp step, ArrayRef<std::optional<unsigned>> feeds) {
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (step.getResultAttr(i, kFeedsAttrName))
      return;
  bool donates =
      llvm::any_of(getStepArguments(step), [](const StepValue &argument) { return argument.isDonated; });
  if (!donates && !updatesState(step, feeds))
    return;
  for (auto [i, argument] : llvm::enumerate(feeds))
    if (argument)
      step.setResultAttr(i, kFeedsAttrName, Builder(step.getContext()).getI64IntegerAttr(*argument));
}

void cgx::setPerRankForm(func::FuncOp step, MeshAttr mesh, ArrayRef<Distribution> arguments,
                         ArrayRef<Distribution> results) {
  Builder builder(step.getContext());
  setMesh(step, mesh);
  removeGlobalShardings(step);
  for (auto [i, distribution] : llvm::enumerate(arguments)) {
    if (step.getArgAttr(i, kShardingAttrName) || !distribution.sharding)
      continue;
    step.setArgAttr(i, kShardingAttrName, distribution.sharding);
    step.setArgAttr(i, kGlobalTypeAttrName, TypeAttr::get(distribution.globalType));
  }
  for (auto [i, distribution] : llvm::enumerate(results)) {
    if (step.getResultAttr(i, kShardingAttrName) || !distribution.sharding)
      continue;
    step.setResultAttr(i, kShardingAttrName, distribution.sharding);
    step.setResultAttr(i, kGlobalTypeAttrName, TypeAttr::get(distribution.globalType));
  }

  SmallVector<StepValue> from = getStepArguments(step);
  SmallVector<StepValue> to = getStepResults(step);
  setFeeds(step, matchFeeds(from, to));
  for (auto [i, value] : llvm::enumerate(from))
    step.setArgAttr(i, kNameAttrName,
                    builder.getStringAttr(value.name.empty() ? "arg" + std::to_string(i) : value.name));
  for (auto [i, value] : llvm::enumerate(to))
    step.setResultAttr(i, kNameAttrName,
                       builder.getStringAttr(value.name.empty() ? "result" + std::to_string(i) : value.name));
}

/// pmap stacks the replicas' copies of the state: each has its slice, of size 1.
static bool isSliceOfStack(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0 && tensor.getDimSize(0) == 1;
}

void cgx::setPerReplicaForm(func::FuncOp step, MeshAttr mesh, bool isStacked) {
  // Pieces are taken for whole first, only to see which arguments are fed.
  llvm::SmallBitVector isState(step.getNumArguments());
  llvm::SmallBitVector isNextState(step.getNumResults());
  for (auto [result, argument] : llvm::enumerate(matchFeeds(getStepArguments(step), getStepResults(step))))
    if (argument) {
      isState.set(*argument);
      isNextState.set(result);
    }

  auto distribute = [&](Type type, bool isCopy) {
    bool isWhole = isCopy && !(isStacked && isSliceOfStack(type));
    return isWhole ? Distribution::replicated(type) : getFirstDimensionSplit(type, mesh);
  };
  SmallVector<Distribution> arguments;
  SmallVector<Distribution> results;
  for (auto [i, type] : llvm::enumerate(step.getArgumentTypes()))
    arguments.push_back(step.getArgAttr(i, "mhlo.is_same_data_across_replicas")
                            ? Distribution::replicated(type)
                            : distribute(type, isState[i]));
  for (auto [i, type] : llvm::enumerate(step.getResultTypes()))
    results.push_back(distribute(type, isNextState[i]));
  setPerRankForm(step, mesh, arguments, results);
}
