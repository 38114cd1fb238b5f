//===-- PerRankForm.cpp - attributes of a per-rank program -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PerRankForm.h"
#include "SignatureAttributes.h"

#include "HloSharding.h"
#include "StateFeeds.h"
#include "cgx/Dialect/Sdy/SdyDialect.h"
#include "cgx/Dialect/Stablehlo/MhloDialect.h"
#include "cgx/Passes/CallerState.h"

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

/// Returns a split of the first dimension over all axes of the mesh, if there is one.
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

/// Returns the distribution that `mhlo.sharding` gives a value of which a rank has a piece of the given type.
/// Nothing if the text is absent or says something else.
static std::optional<Distribution> getHloDistribution(StringRef text, Type local, MeshAttr mesh) {
  auto tensor = dyn_cast<RankedTensorType>(local);
  std::optional<HloSharding> hlo = HloSharding::parse(text);
  ShardingAttr sharding = tensor && hlo ? hlo->overMesh(mesh, tensor.getRank()) : ShardingAttr();
  if (!sharding)
    return std::nullopt;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [size, axes] : llvm::zip_equal(shape, sharding.getDimensions()))
    for (auto axis : axes.getAsRange<StringAttr>())
      size *= *mesh.getAxisSize(axis);
  return Distribution{tensor.clone(shape), sharding};
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

/// Removes the shardings that a partitioner was given for the global step: they do not apply to the pieces.
static void removeGlobalShardings(SignatureAttributes &attributes) {
  for (MutableArrayRef<NamedAttrList> values : {attributes.ofArguments(), attributes.ofResults()})
    for (NamedAttrList &value : values)
      for (StringRef name : {sdy::kShardingAttrName, mhlo::kShardingAttrName})
        value.erase(name);
}

/// Sets the distribution of a value, unless it has one already.
static void distribute(NamedAttrList &value, const Distribution &distribution) {
  if (value.get(kShardingAttrName) || !distribution.sharding)
    return;
  value.set(kShardingAttrName, distribution.sharding);
  value.set(kGlobalTypeAttrName, TypeAttr::get(distribution.globalType));
}

static void setMesh(func::FuncOp step, MeshAttr mesh) {
  auto module = step->getParentOfType<ModuleOp>();
  if (!module->hasAttr(kMeshAttrName))
    module->setAttr(kMeshAttrName, mesh);
  if (!module->hasAttr(kNumRanksAttrName))
    module->setAttr(kNumRanksAttrName, Builder(module).getI64IntegerAttr(mesh.getNumRanks()));
}

/// Describes an argument or result for a message, with its name if it has one.
static std::string describe(StringRef what, unsigned number, StringRef name) {
  std::string text = (what + " " + Twine(number)).str();
  return name.empty() ? text : text + " (" + name.str() + ")";
}

/// Says why a result feeds none of the arguments that it seems to be the next value of.
static void explain(InFlightDiagnostic &diagnostic, func::FuncOp step, const Doubt &doubt) {
  SmallVector<StepValue> arguments = getStepArguments(step);
  SmallVector<StepValue> results = getStepResults(step);
  const StepValue &from = results[doubt.result];
  const StepValue &to = arguments[doubt.arguments.front()];
  diagnostic << describe("result", doubt.result, from.name);
  switch (doubt.reason) {
  case Doubt::Reason::Ambiguous:
    diagnostic << " may be the next value of ";
    llvm::interleave(
        doubt.arguments,
        [&](unsigned argument) { diagnostic << describe("argument", argument, arguments[argument].name); },
        [&] { diagnostic << " or of "; });
    diagnostic << ", and is not the only one: export the step with the names of its arguments, "
                  "lower(...).as_text(debug_info=True), and with donate_argnums, or name the pair, cgx-run "
                  "--feed RESULT=ARGUMENT";
    return;
  case Doubt::Reason::Type:
    diagnostic << " updates " << describe("argument", doubt.arguments.front(), to.name) << ", but is a "
               << from.type << " and the argument a " << to.type << ": return what the step takes";
    return;
  case Doubt::Reason::Sharding:
    diagnostic << " updates " << describe("argument", doubt.arguments.front(), to.name)
               << ", but is split as " << from.sharding << " and the argument as " << to.sharding
               << ": give both the same specs";
    return;
  case Doubt::Reason::Place:
    diagnostic
        << " stands among state where " << describe("argument", doubt.arguments.front(), to.name)
        << " does, and may be its next value, of which the old one leaves no trace: export the step with the "
           "names of its arguments, lower(...).as_text(debug_info=True), or name the pair, cgx-run --feed "
           "RESULT=ARGUMENT";
    return;
  case Doubt::Reason::Data:
    diagnostic
        << " is computed as the next value of " << describe("argument", doubt.arguments.front(), to.name)
        << " would be, but each rank has its own and reduces nothing, so that it may be data: export the "
           "step with the names of its arguments, lower(...).as_text(debug_info=True), or name the pair, "
           "cgx-run --feed RESULT=ARGUMENT";
    return;
  }
}

static bool isFedByCaller(func::FuncOp step) {
  return step->getParentOfType<ModuleOp>()->hasAttr(kCallerKeepsStateAttrName);
}

/// Warns of doubts. A framework's own loop is exempt: it may pass on anything, and compiles a step anew for
/// another type.
static void warnOfDoubts(func::FuncOp step, const StateFeeds &found) {
  if (found.doubts.empty() || isFedByCaller(step))
    return;
  bool feedsNothing = llvm::none_of(found.feeds, [](auto feed) { return feed.has_value(); });
  InFlightDiagnostic warning = mlir::emitWarning(step.getLoc());
  warning << (feedsNothing ? "nothing is fed back, so that every step starts from the same state: "
                           : "a part of the state is not fed back: ");
  explain(warning, step, found.doubts.front());
  if (size_t others = found.doubts.size() - 1)
    warning << "; so it is with " << others << " more of " << step.getNumResults() << " results";
}

/// Remarks on feeds that only arithmetic shows, in a text that has no names.
static void remarkOnFlow(func::FuncOp step, const StateFeeds &found) {
  if (found.byFlow.empty() || isFedByCaller(step))
    return;
  unsigned first = found.byFlow.front();
  mlir::emitRemark(step.getLoc()) << "data flow alone shows which argument " << found.byFlow.size() << " of "
                                  << step.getNumResults() << " results feed, such as result " << first
                                  << " argument " << *found.feeds[first]
                                  << "; lower(...).as_text(debug_info=True) keeps the names";
}

/// Writes the feeds, and, for results that should feed something, the candidates.
static void setFeeds(func::FuncOp step) {
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (step.getResultAttr(i, kFeedsAttrName))
      return;
  StateFeeds found = findFeeds(step);
  Builder builder(step.getContext());
  SignatureAttributes attributes(step);
  for (auto [i, argument] : llvm::enumerate(found.feeds))
    if (argument)
      attributes.ofResult(i).set(kFeedsAttrName, builder.getI64IntegerAttr(*argument));
  for (const Doubt &doubt : found.doubts)
    attributes.ofResult(doubt.result)
        .set(kUpdatesAttrName, builder.getI64IntegerAttr(doubt.arguments.front()));
  attributes.write();
  warnOfDoubts(step, found);
  remarkOnFlow(step, found);
}

void cgx::setPerRankForm(func::FuncOp step, MeshAttr mesh, ArrayRef<Distribution> arguments,
                         ArrayRef<Distribution> results) {
  Builder builder(step.getContext());
  setMesh(step, mesh);
  SignatureAttributes attributes(step);
  removeGlobalShardings(attributes);
  for (auto [i, distribution] : llvm::enumerate(arguments))
    distribute(attributes.ofArgument(i), distribution);
  for (auto [i, distribution] : llvm::enumerate(results))
    distribute(attributes.ofResult(i), distribution);
  attributes.write();

  SmallVector<StepValue> from = getStepArguments(step);
  SmallVector<StepValue> to = getStepResults(step);
  setFeeds(step);
  SignatureAttributes named(step);
  const auto name = [&](const StepValue &value, StringRef what, size_t number) {
    return builder.getStringAttr(value.name.empty() ? what.str() + std::to_string(number) : value.name);
  };
  for (auto [i, value] : llvm::enumerate(from))
    named.ofArgument(i).set(kNameAttrName, name(value, "arg", i));
  for (auto [i, value] : llvm::enumerate(to))
    named.ofResult(i).set(kNameAttrName, name(value, "result", i));
  named.write();
}

/// Returns whether the value is a slice, of size 1, of the stack that pmap makes of the replicas' copies of
/// the state.
static bool isSliceOfStack(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0 && tensor.getDimSize(0) == 1;
}

void cgx::setPerReplicaForm(func::FuncOp step, MeshAttr mesh, bool isStacked) {
  // Pieces are taken for whole first, only to see which arguments are fed.
  Feeds feeds = findFeeds(step).feeds;
  llvm::SmallBitVector isState(step.getNumArguments());
  for (std::optional<unsigned> argument : feeds)
    if (argument)
      isState.set(*argument);

  auto distribute = [&](Type type, bool isCopy) {
    bool isWhole = isCopy && !(isStacked && isSliceOfStack(type));
    return isWhole ? Distribution::replicated(type) : getFirstDimensionSplit(type, mesh);
  };
  auto getText = [](Attribute attribute) {
    auto text = dyn_cast_or_null<StringAttr>(attribute);
    return text ? text.getValue() : StringRef();
  };
  SmallVector<Distribution> arguments;
  SmallVector<Distribution> results;
  for (auto [i, type] : llvm::enumerate(step.getArgumentTypes())) {
    std::optional<Distribution> hlo =
        getHloDistribution(getText(step.getArgAttr(i, mhlo::kShardingAttrName)), type, mesh);
    arguments.push_back(hlo                         ? *hlo
                        : isSameOnReplicas(step, i) ? Distribution::replicated(type)
                                                    : distribute(type, isState[i]));
  }
  SmallVector<StringRef> outputs = HloSharding::splitTuple(
      getText(step->getParentOfType<ModuleOp>()->getAttr("mhlo.spmd_output_sharding")));
  // The next value of a state is distributed as the state: a 1x1 kernel that all replicas have alike is no
  // slice of a stack, however it looks.
  for (auto [i, type] : llvm::enumerate(step.getResultTypes())) {
    std::optional<Distribution> hlo =
        outputs.size() == step.getNumResults() ? getHloDistribution(outputs[i], type, mesh) : std::nullopt;
    results.push_back(hlo ? *hlo : feeds[i] ? arguments[*feeds[i]] : distribute(type, /*isCopy=*/false));
  }
  setPerRankForm(step, mesh, arguments, results);
}
