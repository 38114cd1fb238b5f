//===-- FindPipelines.cpp - Edges between the stages of a pipeline --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline hands activations from stage to stage in a loop of ticks (GPipe): a permute in a loop, whose
// result goes into its operand a tick later. The backward pass is another loop, after it, that hands its
// results the other way; with one forward and one backward at a time (1F1B), it is the same loop. A permute
// around a ring also has a pair for the edge from the last stage to the first, on which nothing is needed.
// Data that goes around a ring unchanged (keys and values of ring attention) goes to all ranks alike, which
// are no stages.
//
//===----------------------------------------------------------------------===//

#include "SampleRows.h"
#include "cgx/Passes/StepRuns.h"

#include "cgx/Passes/RankValues.h"
#include "cgx/Passes/RegionFlow.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include <set>

namespace cgx {
#define GEN_PASS_DEF_FINDPIPELINESPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;
using Pairs = std::set<std::pair<int64_t, int64_t>>;

/// Returns the loop around an op.
stablehlo::WhileOp loopOf(Operation *op) { return op->getParentOfType<stablehlo::WhileOp>(); }

/// Finds whether a value is computed from one of some others, within one round of a loop or from round to
/// round.
class Descent {
public:
  explicit Descent(ValueRange sources) : sources(sources.begin(), sources.end()) {}

  bool reaches(Value value) {
    if (sources.contains(value))
      return true;
    if (!seen.insert(value).second)
      return false;
    SmallVector<Value> incoming = getIncomingValues(value);
    if (!incoming.empty() || isa<BlockArgument>(value))
      return llvm::any_of(incoming, [&](Value each) { return reaches(each); });
    Operation *op = value.getDefiningOp();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value yielded : block.getTerminator()->getOperands())
          if (reaches(yielded))
            return true;
    return llvm::any_of(op->getOperands(), [&](Value operand) { return reaches(operand); });
  }

private:
  llvm::DenseSet<Value> sources, seen;
};

/// Knowledge about each rank: which values it reads, and which of them are zero.
class RankKnowledge {
public:
  explicit RankKnowledge(ModuleOp module) : values(module) {}

  /// Returns whether nothing that a rank computes depends on the value, in this round or a later one:
  /// whatever reads it chooses something else there.
  bool isUnused(Value value, int64_t rank) {
    std::set<const void *> seen;
    return isUnused(value, rank, seen);
  }

  /// Returns whether all elements are zeros on a rank, in every round.
  bool isZero(Value value, int64_t rank) {
    std::set<const void *> seen;
    return isZero(value, rank, seen);
  }

private:
  bool isZero(Value value, int64_t rank, std::set<const void *> &seen) {
    value = throughRegions(value);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // Zeros before the first round, and zeros after each if it begins with zeros.
      SmallVector<Value> incoming = getIncomingValues(argument);
      return !seen.insert(value.getAsOpaquePointer()).second ||
             (!incoming.empty() &&
              llvm::all_of(incoming, [&](Value each) { return isZero(each, rank, seen); }));
    }
    if (matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()))
      return true;
    Operation *op = value.getDefiningOp();
    if (isa_and_present<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp, stablehlo::ConvertOp>(op))
      return isZero(op->getOperand(0), rank, seen);
    if (auto select = dyn_cast_or_null<stablehlo::SelectOp>(op))
      if (std::optional<bool> choice = choiceOf(select, rank))
        return isZero(*choice ? select.getOnTrue() : select.getOnFalse(), rank, seen);
    return false;
  }

  /// Returns the choice of a rank, if that depends on nothing but the rank.
  std::optional<bool> choiceOf(stablehlo::SelectOp select, int64_t rank) {
    Value predicate = throughRegions(select.getPred());
    if (auto broadcast = predicate.getDefiningOp<stablehlo::BroadcastInDimOp>();
        broadcast && cast<RankedTensorType>(broadcast.getOperand().getType()).getRank() == 0)
      predicate = throughRegions(broadcast.getOperand());
    if (cast<RankedTensorType>(predicate.getType()).getRank() != 0)
      return std::nullopt;
    std::optional<int64_t> chosen = values.getScalar(predicate, rank);
    return chosen ? std::optional<bool>(*chosen != 0) : std::nullopt;
  }

  bool isUnused(Value value, int64_t rank, std::set<const void *> &seen) {
    if (!seen.insert(value.getAsOpaquePointer()).second)
      return true;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto select = dyn_cast<stablehlo::SelectOp>(user)) {
        std::optional<bool> choice = choiceOf(select, rank);
        if (choice && use.getOperandNumber() == (*choice ? 2 : 1))
          continue;
        return false;
      }
      SmallVector<Value> passed = getOutgoingValues(use);
      if (passed.empty() || !llvm::all_of(passed, [&](Value each) { return isUnused(each, rank, seen); }))
        return false;
    }
    return true;
  }

  RankValues values;
};

struct FindPipelines : impl::FindPipelinesPassBase<FindPipelines> {
  void runOnOperation() override {
    SmallVector<PermuteOp> recurrent;
    getOperation().walk([&](PermuteOp op) {
      if (isRecurrent(op))
        recurrent.push_back(op);
    });
    unsigned count = 0;
    SmallVector<bool> isTaken(recurrent.size(), false);
    // Backward passes are in the reverse order: the last pipeline's is the first.
    for (unsigned i = 0; i < recurrent.size(); ++i) {
      if (isTaken[i] || !isAnActivation(recurrent[i]) || isRotation(recurrent[i]) ||
          isBackwardInLoop(recurrent[i], recurrent))
        continue;
      isTaken[i] = true;
      std::string name = "pipeline" + (++count > 1 ? "#" + std::to_string(count) : "");
      label(recurrent[i], name + "/forward", LayerKind::Activation);
      for (unsigned j = recurrent.size(); j-- > 0;)
        if (!isTaken[j] && (j > i || loopOf(recurrent[j]) == loopOf(recurrent[i])) &&
            !isRotation(recurrent[j]) && isBackwardOf(recurrent[j], recurrent[i])) {
          isTaken[j] = true;
          label(recurrent[j], name + "/backward", LayerKind::ActivationGradient);
          break;
        }
    }
    if (recurrent.empty())
      return;
    RankKnowledge knowledge(getOperation());
    for (PermuteOp op : recurrent)
      dropUnusedPairs(op, knowledge);
  }

private:
  /// Returns whether its result goes into its operand a round later.
  static bool isRecurrent(PermuteOp op) {
    return op.getInputs().size() == 1 && loopOf(op) &&
           Descent(op->getResults()).reaches(op.getInputs().front());
  }

  /// Returns whether the op hands on a value of the round before, unchanged.
  static bool isRotation(PermuteOp op) {
    auto argument = dyn_cast<BlockArgument>(unmoved(op.getInputs().front()));
    auto loop = argument ? dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp()) : nullptr;
    return loop && argument.getOwner() == &loop.getBody().front() &&
           unmoved(argument.getOwner()->getTerminator()->getOperand(argument.getArgNumber())) ==
               op->getResult(0);
  }

  static Value unmoved(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::ConvertOp>(op))
        value = op->getOperand(0);
      else if (isa<stablehlo::OptimizationBarrierOp>(op))
        value = op->getOperand(cast<OpResult>(value).getResultNumber());
      else
        break;
    }
    return value;
  }

  static LayerAttr layerOf(PermuteOp op) {
    return cast<CollectiveOpInterface>(op.getOperation()).getLayer(0);
  }
  static bool isAnActivation(PermuteOp op) { return layerOf(op).getKind() == LayerKind::Activation; }

  static Pairs pairsOf(PermuteOp op, bool isTurned) {
    Pairs pairs;
    for (auto [source, target] : op.getPairs())
      pairs.insert(isTurned ? std::pair(target, source) : std::pair(source, target));
    return pairs;
  }

  /// Returns whether an edge is the backward one of another. It is in a later loop of as many ticks, and
  /// computed from the results of the forward loop; or it is in the same loop, and computed from the forward
  /// edge, but not the reverse.
  static bool isBackwardOf(PermuteOp backward, PermuteOp forward) {
    LayerKind kind = layerOf(backward).getKind();
    if ((kind != LayerKind::Activation && kind != LayerKind::ActivationGradient &&
         kind != LayerKind::Other) ||
        backward.getInputs().front().getType() != forward.getInputs().front().getType() ||
        pairsOf(backward, /*isTurned=*/true) != pairsOf(forward, /*isTurned=*/false) ||
        getRunsPerStep(backward) != getRunsPerStep(forward))
      return false;
    if (loopOf(backward) != loopOf(forward))
      return dependsOnLoop(backward, loopOf(forward));
    return backward != forward && Descent(forward->getResults()).reaches(backward.getInputs().front()) &&
           !Descent(backward->getResults()).reaches(forward.getInputs().front());
  }

  /// Returns whether an edge is a backward one in a loop that hands on activations and their gradients, which
  /// may stand in any order.
  static bool isBackwardInLoop(PermuteOp op, ArrayRef<PermuteOp> others) {
    return llvm::any_of(others, [&](PermuteOp other) {
      return loopOf(other) == loopOf(op) && isAnActivation(other) && !isRotation(other) &&
             isBackwardOf(op, other);
    });
  }

  static bool dependsOnLoop(PermuteOp backward, stablehlo::WhileOp forward) {
    Descent descent(forward->getResults());
    return llvm::any_of(loopOf(backward).getOperand(),
                        [&](Value operand) { return descent.reaches(operand); });
  }

  static void label(PermuteOp op, StringRef name, LayerKind kind) {
    LayerAttr layer = layerOf(op);
    StringRef own = layer.getName();
    auto made =
        LayerAttr::get(op.getContext(), own.empty() ? name : own, kind, layer.getShape(), layer.getStacked());
    cast<CollectiveOpInterface>(op.getOperation()).setLayersAttr(ArrayAttr::get(op.getContext(), {made}));
  }

  /// Drops pairs that need no message: those that carry zeros, since a rank that is no target gets zeros, and
  /// those that are not read.
  static void dropUnusedPairs(PermuteOp op, RankKnowledge &knowledge) {
    SmallVector<int64_t> kept;
    SmallVector<Attribute> sends;
    for (auto [number, pair] : llvm::enumerate(op.getPairs()))
      if (!knowledge.isUnused(op->getResult(0), pair.second) &&
          !knowledge.isZero(op.getInputs().front(), pair.first)) {
        kept.append({pair.first, pair.second});
        if (op.getSends())
          sends.push_back(op.getSends()[number]);
      }
    if (kept.size() == 2 * op.getPairs().size())
      return;
    auto type = RankedTensorType::get({static_cast<int64_t>(kept.size() / 2), 2},
                                      IntegerType::get(op.getContext(), 64));
    op.setSourceTargetPairsAttr(DenseIntElementsAttr::get(type, ArrayRef<int64_t>(kept)));
    if (op.getSends())
      op.setSendsAttr(ArrayAttr::get(op.getContext(), sends));
  }
};

} // namespace
} // namespace cgx
