//===-- Replication.cpp - The ranks on which values are equal -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of replicated values is replicated: all ranks run the same program on the same bits. So
//
//   axes(f(x, y))      = axes(x) & axes(y)
//   axes(argument)     = none, or, for warnings, the axes that do not split it
//   axes(collective)   = those of its groups, and those along which equal operands meet equal operands
//   axes(wait)         = axes(collective) & axes(condition)          if it was started with a condition
//   axes(branch i)     = axes(predicate) & axes of what each region returns as i
//   axes(carried i)    = axes(initial i) & axes(next i)             in the regions of a loop
//   axes(loop i)       = axes(carried i) & axes(condition)          unless the loop passes i on as it is
//
// The first three are the transfer function; the others follow from the same rule, with the `influences` of a
// value in the place of operands.
//
//===----------------------------------------------------------------------===//

#include "Replication.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/RegionFlow.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <deque>

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// Dependence of values
//===----------------------------------------------------------------------===//

/// Returns whether the result of an op without effects differs between ranks, or between executions.
static bool dependsOnRank(Operation *op) {
  return isa<CommunicationOpInterface>(op) || isa_and_nonnull<shard::ShardDialect>(op->getDialect()) ||
         stablehlo::isCollective(op) ||
         isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp, stablehlo::RngOp, stablehlo::InfeedOp,
             stablehlo::RecvOp, stablehlo::AsyncStartOp>(op);
}

/// Returns whether equal operands give equal results. A custom call without side effects is a function, by
/// StableHLO's specification.
static bool isFunction(Operation *op) {
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return !call.getHasSideEffect();
  if (dependsOnRank(op) || (!isMemoryEffectFree(op) && !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()))
    return false;
  return !op->walk([&](Operation *nested) {
              return nested != op && !isFunction(nested) ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

/// Returns the condition of a start; where it does not hold, the wait gives zeros. Null if there is none.
static Value getCondition(WaitOp wait) { return wait.getHandle().getDefiningOp<StartOp>().getCondition(); }

namespace {

/// Returns the values that decide about `value` as its operands do about the result of a function.
SmallVector<Value> getInfluences(Value value) {
  SmallVector<Value> influences = getIncomingValues(value);
  if (isa<BlockArgument>(value))
    return influences;
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  unsigned i = result.getResultNumber();
  if (isa<RegionBranchOpInterface>(op)) {
    // Ranks may run a loop more or less often: the value stays equal as long as the loop passes it on
    // unchanged.
    if (throughRegions(value) == value)
      influences.append(getDecidingValues(op));
    return influences;
  }
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return {op->getOperand(i)};
  if (auto wait = dyn_cast<WaitOp>(op)) {
    influences = {wait.getCollective().getInputs()[i]};
    if (Value condition = getCondition(wait))
      influences.push_back(condition);
    return influences;
  }
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return {collective.getInputs()[i]};
  influences = op->getOperands();
  // The computation of a reduction may use values from outside.
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          influences.push_back(operand);
    });
  return influences;
}

//===----------------------------------------------------------------------===//
// The analysis
//===----------------------------------------------------------------------===//

/// Returns the axes that do not split a value.
AxisSet getDeclaredAxes(ShardingAttr sharding, RankGrid &grid) {
  AxisSet axes = grid.getAllAxes();
  for (auto [axis, name] : llvm::enumerate(grid.getMesh().getAxes()))
    if (axis < 64 && sharding.hasAxis(name))
      axes &= ~(AxisSet(1) << axis);
  return axes;
}

/// An element of the lattice: nothing was seen yet, or a set of axes, the smaller the lower.
struct ReplicatedAxes {
  std::optional<AxisSet> axes;

  bool operator==(const ReplicatedAxes &other) const { return axes == other.axes; }
  static ReplicatedAxes join(const ReplicatedAxes &a, const ReplicatedAxes &b) {
    if (!a.axes || !b.axes)
      return a.axes ? a : b;
    return {*a.axes & *b.axes};
  }
  void print(raw_ostream &os) const {
    if (axes)
      os << "replicated along " << *axes;
    else
      os << "not seen";
  }
};

using ReplicationLattice = dataflow::Lattice<ReplicatedAxes>;

class ReplicationAnalysis : public dataflow::SparseForwardDataFlowAnalysis<ReplicationLattice> {
public:
  ReplicationAnalysis(DataFlowSolver &solver, RankGrid &grid, bool trustsShardings,
                      const llvm::DenseSet<Value> &unsaid, const llvm::DenseSet<Value> &disbelieved,
                      ModuleOp module)
      : SparseForwardDataFlowAnalysis(solver), grid(grid), trustsShardings(trustsShardings), unsaid(unsaid),
        disbelieved(disbelieved), rankValues(module) {}

  LogicalResult visitOperation(Operation *op, ArrayRef<const ReplicationLattice *>,
                               ArrayRef<ReplicationLattice *> results) override {
    for (ReplicationLattice *result : results)
      update(result, getProgramPointAfter(op));
    return success();
  }

  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &,
                                    ArrayRef<ReplicationLattice *> arguments, unsigned) override {
    for (ReplicationLattice *argument : arguments)
      visitRegionArgument(op, argument);
  }

  /// Overrides the framework, which would join the values that flow to a result, and ignore the condition
  /// that chooses among them.
  void visitRegionSuccessors(ProgramPoint *point, RegionBranchOpInterface branch, RegionSuccessor,
                             ArrayRef<dataflow::AbstractSparseLattice *> lattices) override {
    for (dataflow::AbstractSparseLattice *lattice : lattices) {
      auto *known = static_cast<ReplicationLattice *>(lattice);
      if (isa<OpResult>(known->getAnchor()))
        update(known, point);
      else
        visitRegionArgument(branch, known);
    }
  }

  void setToEntryState(ReplicationLattice *lattice) override {
    propagateIfChanged(lattice, lattice->join(ReplicatedAxes{getEntryAxes(lattice->getAnchor())}));
  }

private:
  /// Sets the entry state of arguments that ops other than loops pass to their regions, such as the elements
  /// of a reduction: nothing is known of them.
  void visitRegionArgument(Operation *op, ReplicationLattice *argument) {
    if (isa<RegionBranchOpInterface>(op))
      update(argument, getProgramPointBefore(cast<BlockArgument>(argument->getAnchor()).getOwner()));
    else
      setToEntryState(argument);
  }

  void update(ReplicationLattice *lattice, ProgramPoint *point) {
    Value value = lattice->getAnchor();
    ReplicatedAxes joined;
    bool isSeen = true;
    AxisSet bound = grid.getAllAxes();
    for (Value influence : getInfluences(value)) {
      const ReplicatedAxes &known = getLatticeElementFor(point, influence)->getValue();
      // A value that a loop carries may be unknown at first; an operand may not.
      isSeen &= known.axes.has_value() || isa<BlockArgument>(value) ||
                isa<RegionBranchOpInterface>(value.getDefiningOp());
      if (auto wait = value.getDefiningOp<WaitOp>(); wait && influence == getCondition(wait)) {
        bound = known.axes.value_or(0);
        continue;
      }
      joined = ReplicatedAxes::join(joined, known);
    }
    if (!isSeen)
      return;
    AxisSet axes = joined.axes.value_or(grid.getAllAxes());
    if (auto result = dyn_cast<OpResult>(value))
      axes = getResultAxes(result, axes) & bound;
    propagateIfChanged(lattice, lattice->join(ReplicatedAxes{axes}));
  }

  AxisSet getResultAxes(OpResult result, AxisSet axes) {
    Operation *op = result.getOwner();
    if (isa<RegionBranchOpInterface>(op))
      return axes;
    if (auto wait = dyn_cast<WaitOp>(op))
      return getCollectiveAxes(wait.getCollective(), axes);
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      return getCollectiveAxes(collective, axes);
    if (!isFunction(op))
      axes = 0;
    return axes == grid.getAllAxes() ? axes : axes | getComputedAxes(result);
  }

  AxisSet getCollectiveAxes(CollectiveOpInterface op, AxisSet axes) {
    if (auto permute = dyn_cast<PermuteOp>(op.getOperation()))
      return getPermutedAxes(permute, axes);
    const bool givesEqualResults = isa<AllReduceOp, AllGatherOp, BroadcastOp>(op);
    if (!givesEqualResults && !isa<ReduceScatterOp, AllToAllOp>(op))
      return 0;
    return grid.getResultAxes(op.getGroups(), axes, givesEqualResults);
  }

  /// Returns the axes along which the results of a permute are replicated. Ranks of different groups get
  /// equal values from sources that hold equal values, if both groups have one pattern: a codec's random
  /// numbers are keyed by places in it, so that ranks of one group get different bits of one value.
  AxisSet getPermutedAxes(PermuteOp op, AxisSet axes) {
    if (op.getSends())
      return 0;
    // Each rank has a source, a group and a position in it.
    const int64_t ranks = grid.getNumRanks();
    SmallVector<int64_t> sources(ranks, -1), rows(ranks, -1), positions(ranks, -1);
    for (auto [row, members] : llvm::enumerate(op.getGroups().getRows()))
      for (auto [position, rank] : llvm::enumerate(members.asArrayRef()))
        if (rank < ranks) {
          rows[rank] = static_cast<int64_t>(row);
          positions[rank] = static_cast<int64_t>(position);
        }
    for (auto [source, target] : op.getPairs())
      if (source < ranks && target < ranks)
        sources[target] = source;
    return grid.getAxesOfEqual([&](int64_t rank, int64_t other) {
      if (rows[rank] < 0 || rows[rank] == rows[other] || positions[rank] != positions[other])
        return false;
      const int64_t source = sources[rank], otherSource = sources[other];
      if (source < 0 || otherSource < 0)
        return source == otherSource;
      return positions[source] == positions[otherSource] &&
             (grid.getDifference(source, otherSource) & ~axes) == 0;
    });
  }

  /// Returns the axes along which an integer is equal that depends on the number of the rank alone: the
  /// position along one axis of the mesh is replicated along the others.
  AxisSet getComputedAxes(Value value) {
    const RankValues::Integers *integers = rankValues.get(value);
    if (!integers || rankValues.getNumRanks() != grid.getNumRanks())
      return 0;
    return grid.getAxesOfEqual(
        [&](int64_t rank, int64_t other) { return integers->of(rank) == integers->of(other); });
  }

  AxisSet getEntryAxes(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
    auto sharding = function
                        ? function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttrName)
                        : nullptr;
    if (!sharding)
      return unsaid.contains(value) ? grid.getAllAxes() : 0;
    if (!trustsShardings || disbelieved.contains(value))
      return 0;
    return getDeclaredAxes(sharding, grid);
  }

  RankGrid &grid;
  bool trustsShardings;
  const llvm::DenseSet<Value> &unsaid;
  const llvm::DenseSet<Value> &disbelieved;
  RankValues rankValues;
};

} // namespace

/// Returns whether the type is a single integer, such as a counter or a number of rounds.
static bool isSingleInteger(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && tensor.getElementType().isInteger();
}

/// Returns the next values of the arguments of which nothing is said, if they are state; null for the others
/// that may be believed to be equal.
static llvm::MapVector<Value, Value> findUnsaid(ModuleOp module) {
  llvm::MapVector<Value, Value> unsaid;
  for (auto step : module.getOps<FunctionOpInterface>()) {
    if (step.isExternal() || !step.getFunctionBody().hasOneBlock())
      continue;
    for (BlockArgument argument : step.getArguments())
      if (isSingleInteger(argument.getType()) && !step.getArgAttr(argument.getArgNumber(), kShardingAttrName))
        unsaid[argument] = {};
    Operation *terminator = step.getFunctionBody().front().getTerminator();
    for (auto [i, next] : llvm::enumerate(terminator->getOperands()))
      if (auto feeds = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName);
          feeds && feeds.getInt() >= 0 && feeds.getInt() < step.getNumArguments() &&
          !step.getArgAttr(feeds.getInt(), kShardingAttrName))
        unsaid[step.getArgument(feeds.getInt())] = next;
  }
  return unsaid;
}

/// Returns the next values of the arguments that are declared, null for those that are not state.
static llvm::MapVector<Value, Value> findDeclared(ModuleOp module) {
  llvm::MapVector<Value, Value> declared;
  for (auto step : module.getOps<FunctionOpInterface>()) {
    if (step.isExternal() || !step.getFunctionBody().hasOneBlock())
      continue;
    for (BlockArgument argument : step.getArguments())
      if (step.getArgAttr(argument.getArgNumber(), kShardingAttrName))
        declared[argument] = {};
    Operation *terminator = step.getFunctionBody().front().getTerminator();
    for (auto [i, next] : llvm::enumerate(terminator->getOperands()))
      if (auto feeds = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName);
          feeds && feeds.getInt() >= 0 && feeds.getInt() < step.getNumArguments())
        if (auto *known = declared.find(step.getArgument(feeds.getInt())); known != declared.end())
          known->second = next;
  }
  return declared;
}

void Replication::disbelieveWhatIsNotKept(ModuleOp module) {
  llvm::MapVector<Value, Value> declared = findDeclared(module);
  for (auto [argument, next] : declared)
    if (!next)
      disbelieved.insert(argument);
  // Each round believes less.
  for (bool holds = false; !holds;) {
    run(module);
    holds = true;
    for (auto [argument, next] : declared)
      if (next && !disbelieved.contains(argument) && (getAxes(argument) & ~getAxes(next)) != 0) {
        disbelieved.insert(argument);
        holds = false;
      }
  }
}

Replication::Replication(ModuleOp module, Believed believed)
    : grid(module), trustsShardings(believed != Believed::Nothing) {
  if (believed == Believed::KeptAlike) {
    disbelieveWhatIsNotKept(module);
    return;
  }
  llvm::MapVector<Value, Value> nextValues;
  if (believed == Believed::HeldAlike)
    nextValues = findUnsaid(module);
  for (auto [argument, next] : nextValues)
    unsaid.insert(argument);
  // Each round believes less.
  for (bool holds = false; !holds;) {
    run(module);
    holds = true;
    for (auto [argument, next] : nextValues)
      if (next && unsaid.contains(argument) && getAxes(next) != grid.getAllAxes()) {
        unsaid.erase(argument);
        holds = false;
      }
  }
}

void Replication::run(ModuleOp module) {
  solver = std::make_unique<DataFlowSolver>();
  dataflow::loadBaselineAnalyses(*solver);
  solver->load<ReplicationAnalysis>(grid, trustsShardings, unsaid, disbelieved, module);
  // Fails only if an analysis gives up; values that were not visited then are not replicated.
  (void)solver->initializeAndRun(module);
}

AxisSet Replication::getAxes(Value value) const {
  const auto *lattice = solver->lookupState<ReplicationLattice>(value);
  return lattice ? lattice->getValue().axes.value_or(0) : 0;
}

bool Replication::isReplicatedOver(Value value, GroupsAttr groups) {
  return !grid.isTooLarge() && (grid.getVaryingAxes(groups) & ~getAxes(value)) == 0;
}

Value Replication::findSource(Value value, AxisSet axes) const {
  std::deque<Value> queue{value};
  llvm::DenseSet<Value> seen{value};
  while (!queue.empty()) {
    Value next = queue.front();
    queue.pop_front();
    bool hasOrigin = false;
    for (Value influence : getInfluences(next)) {
      if ((axes & ~getAxes(influence)) == 0)
        continue;
      hasOrigin = true;
      if (seen.insert(influence).second)
        queue.push_back(influence);
    }
    if (!hasOrigin)
      return next;
  }
  return value;
}

llvm::SetVector<Value> Replication::getCauses(Value value, AxisSet axes) const {
  llvm::SetVector<Value> causes;
  causes.insert(value);
  for (size_t i = 0; i < causes.size(); ++i)
    for (Value influence : getInfluences(causes[i]))
      if ((axes & ~getAxes(influence)) != 0)
        causes.insert(influence);
  return causes;
}

CollectiveOpInterface Replication::findCollective(Value value) {
  std::deque<Value> queue{value};
  llvm::DenseSet<Value> seen{value};
  while (!queue.empty()) {
    Value next = queue.front();
    queue.pop_front();
    if (auto wait = next.getDefiningOp<WaitOp>())
      return wait.getCollective();
    if (auto collective = next.getDefiningOp<CollectiveOpInterface>())
      return collective;
    for (Value influence : getInfluences(next))
      if (seen.insert(influence).second)
        queue.push_back(influence);
  }
  return {};
}
