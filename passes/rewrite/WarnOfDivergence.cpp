//===-- WarnOfDivergence.cpp - State that ranks update on their own -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/RegionFlow.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

namespace cgx {
#define GEN_PASS_DEF_WARNOFDIVERGENCEPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// The split arguments that values are computed from without a collective between. The result of a collective
/// counts as equal on all ranks, over any groups, so that every warning is certain. Values that ranks hand on
/// to each other, one by one, may form a sum (a ring, a tree), and count as a source apart.
class SplitSources {
public:
  explicit SplitSources(FunctionOpInterface step) : step(step) {
    for (BlockArgument argument : step.getArguments())
      if (isSplit(argument.getArgNumber()))
        add(argument, one(argument.getArgNumber()));
    visit(step.getFunctionBody().front());
  }

  /// Returns the first of the arguments; nothing if there is none.
  std::optional<unsigned> getFirst(Value value) const {
    auto found = sources.find(value);
    if (found == sources.end() || found->second.none() || found->second.test(handedOn()))
      return std::nullopt;
    return found->second.find_first();
  }

  ShardingAttr getSharding(unsigned argument) const {
    return step.getArgAttrOfType<ShardingAttr>(argument, kShardingAttrName);
  }

private:
  unsigned handedOn() const { return step.getNumArguments(); }

  llvm::BitVector none() const { return llvm::BitVector(step.getNumArguments() + 1); }

  bool isSplit(unsigned argument) const {
    ShardingAttr sharding = getSharding(argument);
    return sharding && llvm::any_of(sharding.getDimensions(), [](ArrayAttr axes) { return !axes.empty(); });
  }

  llvm::BitVector one(unsigned argument) const {
    llvm::BitVector set = none();
    set.set(argument);
    return set;
  }

  bool add(Value value, const llvm::BitVector &from) {
    llvm::BitVector &to = sources[value];
    bool changes = from.test(to);
    to |= from;
    return changes;
  }

  llvm::BitVector get(Value value) const { return sources.lookup(value); }

  void visit(Block &block) {
    for (Operation &op : block)
      visit(op);
  }

  void visit(Operation &op) {
    if (isa<PermuteOp, AllToAllOp>(op))
      for (auto [operand, result] : llvm::zip_equal(op.getOperands(), op.getResults()))
        if (get(operand).any())
          add(result, one(handedOn()));
    if (isa<CommunicationOpInterface, stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(op))
      return;
    if (SmallVector<RegionEdge> edges = getRegionEdges(&op); !edges.empty())
      return visitRegions(op, edges);
    llvm::BitVector all = none();
    for (Value operand : op.getOperands())
      all |= get(operand);
    for (Region &region : op.getRegions())
      if (region.hasOneBlock()) {
        visit(region.front());
        if (!region.front().mightHaveTerminator())
          continue;
        for (Value value : region.front().getTerminator()->getOperands())
          all |= get(value);
      }
    for (Value result : op.getResults())
      add(result, all);
  }

  /// Visits each value by itself, until nothing changes: other results of a branch say nothing about it.
  void visitRegions(Operation &op, ArrayRef<RegionEdge> edges) {
    llvm::BitVector choice = none();
    for (Value deciding : getDecidingValues(&op))
      if (!op.isAncestor(deciding.getParentBlock()->getParentOp()))
        choice |= get(deciding);
    bool changes = false;
    const auto pass = [&](const RegionEdge &edge) {
      for (auto [from, to] : llvm::zip_equal(edge.from, edge.to)) {
        llvm::BitVector all = get(from);
        if (isa<OpResult>(to))
          all |= choice;
        changes |= add(to, all) && isa<BlockArgument>(to);
      }
    };
    for (const RegionEdge &edge : edges)
      if (edge.isEntry)
        pass(edge);
    do {
      for (Region &region : op.getRegions())
        if (!region.empty()) // an scf.if without else
          visit(region.front());
      changes = false;
      for (const RegionEdge &edge : edges)
        pass(edge);
    } while (changes);
  }

  /// Mutable, since asking an op for its attributes is not const.
  mutable FunctionOpInterface step;
  llvm::DenseMap<Value, llvm::BitVector> sources;
};

struct WarnOfDivergence : impl::WarnOfDivergencePassBase<WarnOfDivergence> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto step = dyn_cast_or_null<FunctionOpInterface>(SymbolTable::lookupSymbolIn(getOperation(), "main"));
    if (!step || step.isExternal() || !step.getFunctionBody().hasOneBlock())
      return;
    SplitSources split(step);
    Operation *terminator = step.getFunctionBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      if (std::optional<unsigned> source = split.getFirst(value);
          source && isReplicatedState(step, i) && !isBroughtTogether(step, i))
        return warn(step, i, *source, split);
  }

private:
  static bool isReplicatedState(FunctionOpInterface step, unsigned result) {
    auto sharding = step.getResultAttrOfType<ShardingAttr>(result, kShardingAttrName);
    return step.getResultAttr(result, kFeedsAttrName) && sharding &&
           llvm::all_of(sharding.getDimensions(), [](ArrayAttr axes) { return axes.empty(); });
  }

  /// Returns whether the step begins with a mean of the state, or hands out one rank's: ranks are meant to
  /// differ until then (federated averaging).
  static bool isBroughtTogether(FunctionOpInterface step, unsigned result) {
    llvm::SetVector<Value> elements;
    elements.insert(step.getArgument(step.getResultAttrOfType<IntegerAttr>(result, kFeedsAttrName).getInt()));
    for (size_t i = 0; i < elements.size(); ++i)
      for (Operation *user : elements[i].getUsers()) {
        if (isa<AllReduceOp, BroadcastOp>(user))
          return true;
        const bool isAlone =
            user->getNumRegions() == 0 && llvm::all_of(user->getOperands(), [&](Value operand) {
              return operand == elements[i] || matchPattern(operand, m_Constant());
            });
        if (isAlone && !isa<CommunicationOpInterface>(user))
          elements.insert(user->result_begin(), user->result_end());
      }
    return false;
  }

  static std::string getName(Attribute name) {
    auto text = dyn_cast_or_null<StringAttr>(name);
    return text ? text.str() : "";
  }

  void warn(FunctionOpInterface step, unsigned result, unsigned source, const SplitSources &split) {
    mlir::emitWarning(step.getLoc())
        << "result " << result << " ('" << getName(step.getResultAttr(result, kNameAttrName))
        << "') is state that all ranks are to hold alike, but is computed, through no collective, from "
           "argument "
        << source << " ('" << getName(step.getArgAttr(source, kNameAttrName)) << "'), which is split as "
        << split.getSharding(source)
        << ": each rank would go its own way; reduce gradients before they are used, lax.pmean(gradients, "
           "axis_name)";
  }
};

} // namespace
} // namespace cgx
