//===-- CheckControlFlow.cpp - Collectives that not all ranks may reach ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replication.h"
#include "cgx/Passes/RegionFlow.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/layers/Options.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace cgx {
#define GEN_PASS_DEF_CHECKCONTROLFLOWPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns the user's name for an argument of the step.
std::string getUserName(BlockArgument argument) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto name =
      function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttrName) : nullptr;
  return name ? "'" + name.str() + "'" : std::to_string(argument.getArgNumber());
}

bool saysHowItIsSplit(BlockArgument argument) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && function.getArgAttr(argument.getArgNumber(), kShardingAttrName);
}

/// Returns a collective as a message names it.
std::string describe(CommunicationOpInterface op) {
  std::string text = op->getName().stripDialect().str() + " with id " + std::to_string(op.getId());
  auto collective = dyn_cast<CollectiveOpInterface>(op.getOperation());
  if (collective && !collective.getLayers().empty() && !collective.getLayer(0).getName().empty())
    text += " (layer '" + collective.getLayer(0).getName().str() + "')";
  return text;
}

/// Returns the values that decide whether the ranks meet in `op`: in a region of it, or for the collective
/// that it starts.
SmallVector<Value> getConditions(Operation *op) {
  if (auto start = dyn_cast<StartOp>(op))
    return start.getCondition() ? SmallVector<Value>{start.getCondition()} : SmallVector<Value>{};
  return isa<RegionBranchOpInterface>(op) ? SmallVector<Value>(getDecidingValues(op)) : SmallVector<Value>{};
}

struct CheckControlFlow : impl::CheckControlFlowPassBase<CheckControlFlow> {
  using CheckControlFlowPassBase::CheckControlFlowPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (action == "ignore")
      return;
    if (std::string wrong = layers::checkDivergentCollectives(action); !wrong.empty()) {
      emitError(getOperation().getLoc()) << wrong;
      return signalPassFailure();
    }
    SmallVector<Operation *> decisions;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!getConditions(op).empty() &&
          op->walk([](CommunicationOpInterface) { return WalkResult::interrupt(); }).wasInterrupted())
        decisions.push_back(op);
    });
    if (decisions.empty())
      return; // the common case costs one walk
    // A declaration that is untrue makes the step hang in JAX as well.
    Replication replication(getOperation(), Replication::Believed::HeldAlike);
    bool diverges = false;
    for (Operation *decision : decisions)
      for (Value condition : getConditions(decision))
        diverges |= check(decision, condition, replication);
    if (diverges && action == "error")
      signalPassFailure();
  }

private:
  /// Reports a collective in a region of `decision` that only some ranks of its group may reach, and returns
  /// whether there is one.
  bool check(Operation *decision, Value condition, Replication &replication) {
    CommunicationOpInterface first;
    unsigned others = 0;
    decision->walk<WalkOrder::PreOrder>([&](CommunicationOpInterface op) {
      if (replication.isReplicatedOver(condition, op.getGroups()))
        return;
      others += first != nullptr;
      if (!first)
        first = op;
    });
    if (first)
      report(decision, condition, first, others, replication);
    return first != nullptr;
  }

  void report(Operation *decision, Value condition, CommunicationOpInterface collective, unsigned others,
              Replication &replication) {
    RankGrid &grid = replication.getGrid();
    AxisSet axes = grid.getVaryingAxes(collective.getGroups()) & ~replication.getAxes(condition);
    InFlightDiagnostic diagnostic = action == "error" ? decision->emitError() : decision->emitWarning();
    diagnostic << describe(collective);
    if (others > 0)
      diagnostic << " and " << others << (others == 1 ? " other" : " others");
    auto branch = dyn_cast<RegionBranchOpInterface>(decision);
    bool isLoop = branch && branch.hasLoop();
    diagnostic
        << (isLoop   ? " in a loop whose"
            : branch ? " in a branch whose"
                     : " whose start's")
        << " condition may differ along axis " << grid.describe(axes) << " of the mesh: ranks that "
        << (isLoop   ? "stay in it"
            : branch ? "take it"
                     : "start it")
        << " would wait for the others; expected the condition to be computed from values that are equal "
           "on all ranks of the group, such as a loss after its mean over the ranks";
    diagnostic.attachNote(condition.getLoc()) << "the condition is computed here";
    noteSource(diagnostic, replication.findSource(condition, axes));
    if (collective->getLoc() != decision->getLoc())
      diagnostic.attachNote(collective.getLoc()) << "the first collective is here";
  }

  /// Notes where the ranks become different.
  static void noteSource(InFlightDiagnostic &diagnostic, Value source) {
    Diagnostic &note = diagnostic.attachNote(source.getLoc());
    if (auto argument = dyn_cast<BlockArgument>(source)) {
      note << "it differs because of argument " << getUserName(argument);
      note << (saysHowItIsSplit(argument) ? ", of which each rank has its own part"
                                          : ", which has no cgx.sharding: nothing is known of it");
      return;
    }
    note << "it differs because of the result of " << source.getDefiningOp()->getName().getStringRef();
    if (auto call = source.getDefiningOp<stablehlo::CustomCallOp>())
      note << " @" << call.getCallTargetName() << ", which has side effects";
  }
};

} // namespace
} // namespace cgx
