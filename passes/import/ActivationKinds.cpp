//===-- ActivationKinds.cpp - directions of activations --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ActivationKinds.h"

#include "KeptElements.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace cgx;

static bool isContraction(Operation *op) {
  return isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::ConvolutionOp, chlo::RaggedDotOp,
             linalg::MatmulOp, linalg::BatchMatmulOp, tosa::MatMulOp>(op);
}

/// Returns whether the op selects the largest elements.
static bool isSelection(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return call.getCallTargetName().contains_insensitive("topk");
  return isa<chlo::TopKOp, stablehlo::SortOp>(op) ||
         (isa<stablehlo::ReduceOp>(op) && op->getNumResults() > 1); // argmax
}

/// Returns the length of the last dimension, which makes up a token.
static int64_t getRowLength(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 ? type.getShape().back() : 0;
}

/// Returns the operands whose rows an op moves to other places, or to several, and that are not kept element
/// by element.
static SmallVector<Value> getMovedRows(OpResult result) {
  Operation *op = result.getOwner();
  SmallVector<Value> moved;
  if (isa<stablehlo::GatherOp, stablehlo::DynamicGatherOp>(op)) {
    moved = {op->getOperand(0)};
  } else if (isa<stablehlo::ScatterOp>(op)) { // operands, indices, updates
    unsigned count = op->getNumResults(), i = result.getResultNumber();
    if (op->getNumOperands() == 2 * count + 1)
      moved = {op->getOperand(i), op->getOperand(count + 1 + i)};
  } else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    ArrayRef<int64_t> dimensions = broadcast.getBroadcastDimensions();
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (type && !dimensions.empty() && dimensions.back() == type.getRank() - 1)
      moved = {broadcast.getOperand()};
  }
  llvm::erase_if(moved, [&](Value operand) { return getRowLength(operand) != getRowLength(result); });
  return moved;
}

ActivationKinds::ActivationKinds(func::FuncOp step, const StepState &state, StepDataFlow &flow,
                                 const StepDataFlow &round, KnownExchanges known)
    : step(step), state(state), flow(flow), round(round), known(std::move(known)),
      sets(flow.getArgumentCount() + flow.getExchanges().size()), met(flow.getExchanges().size(), 0),
      isForward(flow.getExchanges().size()) {
  if (this->known.activations.none())
    return;
  followRows();
  findForward();
}

//===----------------------------------------------------------------------===//
// Parameters that values meet and are made by
//===----------------------------------------------------------------------===//

/// Returns the parameters that a contraction has as this operand, directly or gathered.
SourceSet ActivationKinds::getContracted(Value operand) {
  SourceSet parameters = 0;
  const SourceSet kept = flow.getSources(operand).kept;
  flow.getSets().forEach(kept, [&](unsigned source) {
    unsigned argument = source;
    if (source >= flow.getSource(0)) {
      unsigned exchange = source - flow.getSource(0);
      if (exchange >= flow.getExchanges().size() || known.gradients[exchange] || !known.parameters[exchange])
        return;
      argument = *known.parameters[exchange];
    }
    if (state.isState(argument) && state.getNumberType(argument) &&
        state.getParameterShape(argument).size() > 1)
      parameters = sets.unite(parameters, sets.getSingle(argument));
  });
  return parameters;
}

ActivationKinds::Rows ActivationKinds::findRows(OpResult result) {
  Operation *op = result.getOwner();
  Rows found;
  for (Value operand : op->getOperands()) {
    found.selectors = sets.unite(found.selectors, rows.lookup(operand).selectors);
    if (isSelection(op))
      found.selectors = sets.unite(found.selectors, getMakers(operand));
  }
  if (isContraction(op) && op->getNumOperands() >= 2) {
    for (unsigned i : {0, 1}) {
      SourceSet parameters = getContracted(op->getOperand(i));
      found.parameters = sets.unite(found.parameters, parameters);
      if (parameters == 0)
        continue;
      Value tokens = op->getOperand(1 - i);
      auto meet = [&](unsigned source) {
        if (source >= flow.getSource(0) && source < flow.getInputSource(0)) {
          SourceSet &all = met[source - flow.getSource(0)];
          all = sets.unite(all, parameters);
        }
      };
      flow.getSets().forEach(flow.getSources(tokens).kept, meet);
      sets.forEach(rows.lookup(tokens).exchanges, meet);
    }
    return found;
  }
  auto take = [&](Value operand, bool isKept) {
    Rows from = rows.lookup(operand);
    found.parameters = sets.unite(found.parameters, from.parameters);
    found.exchanges = sets.unite(found.exchanges, from.exchanges);
    if (!isKept) // The flow itself knows which exchanges a value keeps elements of.
      flow.getSets().forEach(flow.getSources(operand).kept, [&](unsigned source) {
        if (source >= flow.getSource(0) && source < flow.getInputSource(0))
          found.exchanges = sets.unite(found.exchanges, sets.getSingle(source));
      });
  };
  for (Value operand : getKeptOperands(result))
    take(operand, /*isKept=*/true);
  for (Value operand : getMovedRows(result))
    take(operand, /*isKept=*/false);
  return found;
}

/// Follows rows in one pass: the values that a loop carries begin anew in each round.
void ActivationKinds::followRows() {
  step.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    for (OpResult result : op->getResults()) {
      Rows found;
      if (!collective)
        found = findRows(result);
      else
        for (Value input : collective.getInputs())
          found.selectors = sets.unite(found.selectors, rows.lookup(input).selectors);
      if (isa<AllToAllOp>(op))
        routers = sets.unite(routers, found.selectors);
      if (found.parameters != 0 || found.exchanges != 0 || found.selectors != 0)
        rows[result] = found;
    }
  });
  // Sums and gathers over other ranks come between the tokens' exchanges and their experts.
  for (unsigned i = flow.getExchanges().size(); i-- > 0;)
    if (!isa<AllToAllOp, PermuteOp>(*flow.getExchanges()[i].collective))
      for (unsigned j = 0; j < i; ++j)
        if (met[i] != 0 && flow.passesOn(j, i))
          met[j] = sets.unite(met[j], met[i]);
}

/// Returns the parameters of the contraction that made a value, before sums and gathers over other ranks,
/// too.
SourceSet ActivationKinds::getMakers(Value value) {
  SourceSet makers = rows.lookup(value).parameters;
  flow.getSets().forEach(flow.getSources(value).kept, [&](unsigned source) {
    if (source < flow.getSource(0) || source >= flow.getInputSource(0))
      return;
    Exchange &exchange = flow.getExchanges()[source - flow.getSource(0)];
    if (!isa<AllToAllOp, PermuteOp>(*exchange.collective))
      makers = sets.unite(makers, rows.lookup(exchange.getInput()).parameters);
  });
  return makers;
}

/// Returns whether an exchange carries numbers of a router, such as probabilities and their gradients, or
/// numbers that no layer computes with, such as masks.
bool ActivationKinds::isRouted(unsigned i) {
  Exchange &exchange = flow.getExchanges()[i];
  const SourceSet near = sets.unite(getMakers(exchange.getInput()), met[i]);
  if (near == 0)
    return isa<AllToAllOp>(*exchange.collective);
  return sets.subtract(near, routers) == 0;
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// Returns whether ranks of one process group hold different pieces of a parameter.
bool ActivationKinds::areSplitOver(unsigned parameter, GroupsAttr groups) {
  auto sharding = step.getArgAttrOfType<ShardingAttr>(parameter, kShardingAttrName);
  auto mesh = step->getParentOfType<ModuleOp>()->getAttrOfType<MeshAttr>(kMeshAttrName);
  if (!sharding || !mesh)
    return false;
  int64_t stride = 1;
  for (size_t axis = mesh.getAxes().size(); axis-- > 0;) {
    const int64_t size = mesh.getSizes()[axis];
    bool isSplit = llvm::any_of(sharding.getDimensions(), [&](ArrayAttr dimension) {
      return llvm::is_contained(dimension.getValue(), mesh.getAxes()[axis]);
    });
    auto getPlace = [&](int64_t rank) { return rank / stride % size; };
    for (DenseI64ArrayAttr row : groups.getRows())
      if (isSplit &&
          llvm::any_of(row.asArrayRef(), [&](int64_t rank) { return getPlace(rank) != getPlace(row[0]); }))
        return true;
    stride *= size;
  }
  return false;
}

/// Returns whether some group has two ranks of one group of the other.
static bool haveCommonPair(GroupsAttr groups, GroupsAttr others) {
  llvm::DenseMap<int64_t, size_t> groupOf;
  for (auto [number, row] : llvm::enumerate(groups.getRows()))
    for (int64_t rank : row.asArrayRef())
      groupOf[rank] = number;
  for (DenseI64ArrayAttr row : others.getRows()) {
    llvm::DenseMap<size_t, unsigned> counts;
    for (int64_t rank : row.asArrayRef())
      if (auto group = groupOf.find(rank); group != groupOf.end() && ++counts[group->second] > 1)
        return true;
  }
  return false;
}

bool ActivationKinds::isExpert(unsigned parameter, GroupsAttr groups) {
  auto [entry, isNew] = experts.try_emplace({parameter, groups.getAsOpaquePointer()}, false);
  if (!isNew)
    return entry->second;
  entry->second = areSplitOver(parameter, groups);
  // Pieces of one whole (FSDP) are gathered, and replicas (pmap, which splits everything) have one gradient.
  for (auto [i, exchange] : llvm::enumerate(flow.getExchanges()))
    if (entry->second && known.parameters[i] == parameter &&
        haveCommonPair(groups, exchange.collective.getGroups()))
      entry->second = false;
  return entry->second;
}

SmallVector<unsigned> ActivationKinds::getExperts(unsigned i, SourceSet parameters) {
  SmallVector<unsigned> found;
  GroupsAttr groups = flow.getExchanges()[i].collective.getGroups();
  sets.forEach(parameters, [&](unsigned parameter) {
    if (isExpert(parameter, groups))
      found.push_back(parameter);
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

/// Metrics that are made of gradients, such as their norm, also depend on values that travel backward.
void ActivationKinds::findForward() {
  Operation *terminator = step.getBody().front().getTerminator();
  const BitVector none(isForward.size());
  for (auto [result, value] : llvm::enumerate(terminator->getOperands())) {
    BitVector depends = none;
    if (!state.getFedArgument(result))
      flow.getSets().forEach(flow.getSources(value).any, [&](unsigned source) {
        if (source >= flow.getSource(0) && source < flow.getInputSource(0))
          depends.set(source - flow.getSource(0));
      });
    if (!depends.anyCommon(known.gradients))
      isForward |= depends;
  }
  if (!isForward.anyCommon(known.activations)) {
    isForward.set(); // A step without metrics does not tell directions.
    return;
  }
  for (unsigned i = 0; i < isForward.size(); ++i)
    if (known.activations[i] && !isForward[i] && isRecomputed(i))
      isForward.set(i);
}

/// Returns whether the backward pass repeats an exchange of the forward pass because it computes again the
/// values that it needs: an equal exchange exists already, and this one is computed from no more than that
/// one, and from no gradient.
bool ActivationKinds::isRecomputed(unsigned i) {
  Exchange &again = flow.getExchanges()[i];
  const SourceSet from = round.getSources(again.getInput()).any;
  bool hasGradients = false;
  round.getSets().forEach(from, [&](unsigned source) {
    if (source >= round.getSource(0) && source < round.getInputSource(0)) {
      unsigned exchange = source - round.getSource(0);
      hasGradients |= known.gradients[exchange] || (known.activations[exchange] && !isForward[exchange]);
    }
  });
  if (hasGradients)
    return false;
  for (unsigned j = 0; j < i; ++j) {
    Exchange &first = flow.getExchanges()[j];
    if (!isForward[j] || !known.activations[j] || round.dependsOn(again.getInput(), round.getSource(j)) ||
        again.collective->getName() != first.collective->getName() ||
        again.collective.getGroups() != first.collective.getGroups() ||
        again.getInput().getType() != first.getInput().getType())
      continue;
    bool isOfNoMore = true;
    round.getSets().forEach(from, [&](unsigned source) {
      isOfNoMore &= source >= round.getSource(0) || round.dependsOn(first.getInput(), source);
    });
    if (isOfNoMore)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

LayerKind ActivationKinds::getKind(unsigned i) {
  CollectiveOpInterface collective = flow.getExchanges()[i].collective;
  if (isa<PermuteOp>(*collective)) // Edges of a pipeline go both ways in one loop.
    return LayerKind::Activation;
  if (isRouted(i))
    return LayerKind::Other;
  if (isa<AllToAllOp>(*collective)) {
    const bool isToExperts = !getExperts(i, met[i]).empty();
    const bool isFromExperts = !getExperts(i, getMakers(flow.getExchanges()[i].getInput())).empty();
    if (isToExperts && !isFromExperts)
      return isForward[i] ? LayerKind::Dispatch : LayerKind::CombineGradient;
    if (isFromExperts && !isToExperts)
      return isForward[i] ? LayerKind::Combine : LayerKind::DispatchGradient;
  }
  return isForward[i] ? LayerKind::Activation : LayerKind::ActivationGradient;
}

SmallVector<unsigned> ActivationKinds::getParameters(unsigned i) {
  LayerKind kind = getKind(i);
  if (kind == LayerKind::Dispatch || kind == LayerKind::CombineGradient)
    return getExperts(i, met[i]);
  if (kind == LayerKind::Combine || kind == LayerKind::DispatchGradient)
    return getExperts(i, getMakers(flow.getExchanges()[i].getInput()));
  // A sum is made by a parameter of which each rank has its rows or columns; a moved activation meets a
  // parameter, or was made by one.
  Exchange &exchange = flow.getExchanges()[i];
  SourceSet parameters = rows.lookup(exchange.getInput()).parameters;
  if (!exchange.collective.getReductionKind() && met[i] != 0)
    parameters = met[i];
  SmallVector<unsigned> found;
  if (!isa<PermuteOp>(*exchange.collective))
    sets.forEach(parameters, [&](unsigned parameter) { found.push_back(parameter); });
  return found;
}
