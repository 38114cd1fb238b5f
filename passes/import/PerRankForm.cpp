//===-- PerRankForm.cpp - what a per-rank program says of itself ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PerRankForm.h"

#include "Feeding.h"

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

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

StringRef cgx::getArgumentName(BlockArgument argument) {
  StringRef name;
  argument.getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
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

/// `cgx.name` if there is one, else the name that the framework gave.
static std::string getKnownName(Attribute given, StringRef exported) {
  auto name = dyn_cast_or_null<StringAttr>(given);
  return name ? name.str() : exported.str();
}

static SmallVector<StepValue> getArguments(func::FuncOp step) {
  SmallVector<StepValue> arguments;
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    StepValue value;
    value.name = getKnownName(step.getArgAttr(i, kNameAttrName), getArgumentName(argument));
    value.type = argument.getType();
    value.sharding = step.getArgAttr(i, kShardingAttrName);
    value.isDonated = step.getArgAttr(i, "jax.buffer_donor") || step.getArgAttr(i, "tf.aliasing_output");
    if (auto alias = step.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output"))
      value.aliasedResult = alias.getInt();
    arguments.push_back(value);
  }
  return arguments;
}

static SmallVector<StepValue> getResults(func::FuncOp step) {
  SmallVector<StepValue> results;
  for (auto [i, type] : llvm::enumerate(step.getResultTypes())) {
    auto info = step.getResultAttrOfType<StringAttr>(i, "jax.result_info");
    StepValue value;
    value.name = getKnownName(step.getResultAttr(i, kNameAttrName), info ? info.getValue() : "");
    value.type = type;
    value.sharding = step.getResultAttr(i, kShardingAttrName);
    results.push_back(value);
  }
  return results;
}

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

void cgx::setPerRankForm(func::FuncOp step, MeshAttr mesh, ArrayRef<Distribution> arguments,
                         ArrayRef<Distribution> results) {
  Builder builder(step.getContext());
  setMesh(step, mesh);
  removeGlobalShardings(step);
  for (auto [i, distribution] : llvm::enumerate(arguments)) {
    if (step.getArgAttr(i, kShardingAttrName))
      continue;
    step.setArgAttr(i, kShardingAttrName, distribution.sharding);
    step.setArgAttr(i, kGlobalTypeAttrName, TypeAttr::get(distribution.globalType));
  }
  for (auto [i, distribution] : llvm::enumerate(results)) {
    if (step.getResultAttr(i, kShardingAttrName))
      continue;
    step.setResultAttr(i, kShardingAttrName, distribution.sharding);
    step.setResultAttr(i, kGlobalTypeAttrName, TypeAttr::get(distribution.globalType));
  }

  SmallVector<StepValue> from = getArguments(step);
  SmallVector<StepValue> to = getResults(step);
  bool isFed = llvm::any_of(llvm::seq(step.getNumResults()),
                            [&](unsigned i) { return step.getResultAttr(i, kFeedsAttrName) != nullptr; });
  if (!isFed)
    for (auto [i, argument] : llvm::enumerate(matchFeeds(from, to)))
      if (argument)
        step.setResultAttr(i, kFeedsAttrName, builder.getI64IntegerAttr(*argument));
  for (auto [i, value] : llvm::enumerate(from))
    step.setArgAttr(i, kNameAttrName,
                    builder.getStringAttr(value.name.empty() ? "arg" + std::to_string(i) : value.name));
  for (auto [i, value] : llvm::enumerate(to))
    step.setResultAttr(i, kNameAttrName,
                       builder.getStringAttr(value.name.empty() ? "result" + std::to_string(i) : value.name));
}

void cgx::setPerReplicaForm(func::FuncOp step, MeshAttr mesh) {
  // Pieces are taken for whole first, only to see which arguments are fed.
  llvm::SmallBitVector isState(step.getNumArguments());
  llvm::SmallBitVector isNextState(step.getNumResults());
  for (auto [result, argument] : llvm::enumerate(matchFeeds(getArguments(step), getResults(step))))
    if (argument) {
      isState.set(*argument);
      isNextState.set(result);
    }

  SmallVector<Distribution> arguments;
  SmallVector<Distribution> results;
  for (auto [i, type] : llvm::enumerate(step.getArgumentTypes())) {
    bool isSame = isState[i] || step.getArgAttr(i, "mhlo.is_same_data_across_replicas");
    arguments.push_back(isSame ? Distribution::replicated(type) : getFirstDimensionSplit(type, mesh));
  }
  for (auto [i, type] : llvm::enumerate(step.getResultTypes()))
    results.push_back(isNextState[i] ? Distribution::replicated(type) : getFirstDimensionSplit(type, mesh));
  setPerRankForm(step, mesh, arguments, results);
}
