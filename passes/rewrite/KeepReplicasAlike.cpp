//===-- KeepReplicasAlike.cpp - Keeps equal state equal -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ring of permutes adds up, on rank r of N, its own x_r and the values that the others handed on. Without
// compression,
//
//   x_r + x_{r-1} + ... + x_{r-N+1}     is one sum, in another order on each rank
//
// while with a lossy codec, where d(x) = decode(encode(x)) arrives,
//
//   x_r + d(x_{r-1}) + d(d(x_{r-2})) + ...
//
// is another number on each rank: a rank's own part is not encoded. All-reduces, all-gathers and broadcasts
// decode a rank's own part as the others do, so that all ranks get the same.
//
//===----------------------------------------------------------------------===//

#include "Replication.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/layers/UncompressedReasons.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace cgx {
#define GEN_PASS_DEF_KEEPREPLICASALIKEPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns whether ranks of a group get different values, each of which a codec would change in its own way.
bool givesOwnResults(CollectiveOpInterface op) { return !isa<AllReduceOp, AllGatherOp, BroadcastOp>(op); }

/// A requirement on a result of the step, and the collectives that must not violate it.
struct Requirement {
  AxisSet axes = 0; ///< ranks that differ along them only hold the same
  bool ofAllKinds = false;
};

struct KeepReplicasAlike : impl::KeepReplicasAlikePassBase<KeepReplicasAlike> {
  void runOnOperation() override {
    auto step = dyn_cast_or_null<FunctionOpInterface>(SymbolTable::lookupSymbolIn(getOperation(), "main"));
    if (!step || step.isExternal() || !step.getFunctionBody().hasOneBlock())
      return;
    const bool hasAny = getOperation()
                            .walk([](CollectiveOpInterface op) {
                              return WalkResult(failure(givesOwnResults(op) && hasCandidate(op)));
                            })
                            .wasInterrupted();
    if (!hasAny)
      return; // the common case costs one walk
    Replication replication(getOperation(), Replication::Believed::Declared);
    Operation *terminator = step.getFunctionBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      const Requirement whole = getRequirement(step, i, replication.getGrid());
      protect(step, i, value, whole, replication);
      protect(step, i, value, getRequirementOfCopies(step, i, replication.getGrid()), replication);
    }
  }

private:
  static bool hasCandidate(CollectiveOpInterface op) {
    return llvm::any_of(llvm::seq<unsigned>(op.getInputs().size()),
                        [&](unsigned i) { return getExactReason(op, i).empty(); });
  }

  static ShardingAttr getSharding(FunctionOpInterface step, unsigned result) {
    return step.getResultAttrOfType<ShardingAttr>(result, kShardingAttrName);
  }

  static AxisSet getSplitAxes(ShardingAttr sharding, RankGrid &grid) {
    AxisSet axes = 0;
    for (auto [axis, name] : llvm::enumerate(grid.getMesh().getAxes()))
      if (axis < 64 && sharding.hasAxis(name))
        axes |= AxisSet(1) << axis;
    return axes & grid.getAllAxes();
  }

  /// Returns the requirement on a result that is declared replicated. A single number that is no state, such
  /// as a loss, has none.
  static Requirement getRequirement(FunctionOpInterface step, unsigned result, RankGrid &grid) {
    ShardingAttr sharding = getSharding(step, result);
    auto type = dyn_cast<RankedTensorType>(step.getResultTypes()[result]);
    const bool isState = step.getResultAttr(result, kFeedsAttrName) != nullptr;
    if (!sharding || !type || (!isState && type.getRank() == 0))
      return {};
    return {grid.getAllAxes() & ~getSplitAxes(sharding, grid), isState};
  }

  /// Returns the requirement on state with an entry for each rank (`pmap`), which may be copies of one model.
  static Requirement getRequirementOfCopies(FunctionOpInterface step, unsigned result, RankGrid &grid) {
    ShardingAttr sharding = getSharding(step, result);
    auto type = dyn_cast<RankedTensorType>(step.getResultTypes()[result]);
    if (!sharding || !type || type.getRank() == 0 || !step.getResultAttr(result, kFeedsAttrName) ||
        type.getDimSize(0) != 1 || sharding.getDimensions().empty() || sharding.getDimensions()[0].empty())
      return {};
    return {getSplitAxes(sharding, grid), /*ofAllKinds=*/false};
  }

  static std::string getName(FunctionOpInterface step, unsigned result) {
    auto feeds = step.getResultAttrOfType<IntegerAttr>(result, kFeedsAttrName);
    const bool isFed = feeds && feeds.getInt() >= 0 && feeds.getInt() < step.getNumArguments();
    auto name = isFed ? step.getArgAttrOfType<StringAttr>(feeds.getInt(), kNameAttrName) : StringAttr();
    if (!name)
      name = step.getResultAttrOfType<StringAttr>(result, kNameAttrName);
    return name ? "'" + name.str() + "'" : "result " + std::to_string(result);
  }

  /// Leaves collectives uncompressed that would make ranks differ in a result that is not proved to be equal.
  static void protect(FunctionOpInterface step, unsigned result, Value value, Requirement required,
                      Replication &replication) {
    const AxisSet unproved = required.axes & ~replication.getAxes(value);
    if (unproved == 0)
      return;
    const std::string reason = layers::kApart.of(getName(step, result));
    for (Value cause : replication.getCauses(value, unproved)) {
      auto wait = cause.getDefiningOp<WaitOp>();
      CollectiveOpInterface op = wait ? wait.getCollective() : cause.getDefiningOp<CollectiveOpInterface>();
      if (!op || !givesOwnResults(op) ||
          (replication.getGrid().getVaryingAxes(op.getGroups()) & unproved) == 0)
        continue;
      const unsigned operand = cast<OpResult>(cause).getResultNumber();
      const LayerKind kind = op.getLayer(operand).getKind();
      if (getExactReason(op, operand).empty() && (required.ofAllKinds || isGradientKind(kind)))
        setReason(op, operand, reason);
    }
  }

  static void setReason(CollectiveOpInterface op, unsigned operand, StringRef reason) {
    Builder builder(op.getContext());
    SmallVector<Attribute> reasons;
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
      reasons.push_back(builder.getStringAttr(i == operand ? reason : getExactReason(op, i)));
    op.setExactReasonsAttr(builder.getArrayAttr(reasons));
  }
};

} // namespace
} // namespace cgx
