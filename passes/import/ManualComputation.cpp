//===-- ManualComputation.cpp - the program of one rank out of shard_map's -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManualComputation.h"

#include "PerRankForm.h"
#include "RankSlice.h"
#include "StateFeeds.h"
#include "cgx/Dialect/Sdy/SdyDialect.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cgx;

namespace {
/// Inlines one function's manual computations. Values are global before a computation is inlined and local
/// after; `distributions` holds the splits of values that are not replicated.
class ManualComputationInliner {
public:
  explicit ManualComputationInliner(func::FuncOp step) : step(step) {}

  LogicalResult run() {
    forwardShardingHints();
    for (Operation &op : step.getBody().front())
      if (auto computation = dyn_cast<sdy::ManualComputationOp>(op))
        computations.push_back(computation);
    if (failed(checkNesting()) || failed(findMesh()))
      return failure();
    for (BlockArgument argument : step.getArguments())
      if (failed(distributeArgument(argument)))
        return failure();
    for (sdy::ManualComputationOp computation : computations)
      if (failed(distributeOperands(computation)))
        return failure();
    if (failed(checkOpsAround()))
      return failure();
    setForm();
    return success();
  }

private:
  /// Emits an error without a copy of the op, which holds the whole program.
  static InFlightDiagnostic emitError(Operation *op) {
    return mlir::emitError(op->getLoc()) << "'" << op->getName() << "' ";
  }

  /// Removes sharding constraints, which ask a partitioner for a distribution, while manual computations
  /// state theirs: the value itself is the same.
  void forwardShardingHints() {
    SmallVector<Operation *> hints;
    step.walk([&](Operation *op) {
      op->removeAttr(sdy::kShardingAttrName);
      if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::ShardingGroupOp>(op))
        hints.push_back(op);
    });
    for (Operation *op : hints) {
      if (op->getNumResults() == 1)
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  }

  LogicalResult checkNesting() {
    WalkResult result = step.walk([&](sdy::ManualComputationOp computation) {
      if (llvm::is_contained(computations, computation))
        return WalkResult::advance();
      emitError(computation) << "is inside '" << computation->getParentOp()->getName()
                             << "', expected it directly in @" << step.getName()
                             << "; put the loop or the inner shard_map inside the outermost shard_map";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult findMesh() {
    sdy::MeshAttr found;
    for (sdy::ManualComputationOp computation : computations) {
      sdy::MeshAttr own = computation.getMesh();
      if (!own)
        continue;
      if (found && own != found)
        return emitError(computation)
               << "expected the mesh of the step's other computations, " << found << ", got " << own;
      found = own;
      if (!own.getDeviceIds().empty())
        return emitError(computation) << "expected a mesh whose devices are in order, got " << own
                                      << "; ranks are numbered row-major over the mesh axes: build the "
                                         "mesh from an ordered list of devices";
      for (sdy::MeshAxisAttr axis : own.getAxes())
        if (axis.getSize() > 1 && !isManual(computation, axis.getName()))
          return emitError(computation)
                 << "mesh axis \"" << axis.getName() << "\" of size " << axis.getSize()
                 << " is not manual, so a partitioner would communicate over it; name it in shard_map's "
                    "axis_names";
    }
    SmallVector<StringAttr> names;
    SmallVector<int64_t> sizes;
    for (sdy::MeshAxisAttr axis : found ? found.getAxes() : ArrayRef<sdy::MeshAxisAttr>()) {
      names.push_back(StringAttr::get(step.getContext(), axis.getName()));
      sizes.push_back(axis.getSize());
    }
    mesh = MeshAttr::getChecked([&] { return step.emitError(); }, step.getContext(), ArrayRef(names),
                                ArrayRef(sizes));
    return success(mesh != nullptr);
  }

  static bool isManual(sdy::ManualComputationOp computation, StringRef axis) {
    return llvm::any_of(computation.getManualAxes().getAxes(), [&](StringAttr name) { return name == axis; });
  }

  FailureOr<Distribution> getDistribution(sdy::ManualComputationOp computation, Type globalType,
                                          sdy::TensorShardingAttr sharding) {
    if (!sharding.getUnreducedAxes().empty())
      return emitError(computation) << "a value is left unreduced by " << sharding
                                    << "; reduce it inside shard_map (psum, pmean)";
    SmallVector<ArrayAttr> dimensions;
    for (sdy::DimensionShardingAttr dimension : sharding.getDimensions()) {
      SmallVector<Attribute> axes;
      for (sdy::AxisRefAttr axis : dimension.getAxes()) {
        if (!axis.isWhole())
          return emitError(computation) << "a dimension is split over a part of mesh axis \""
                                        << axis.getName() << "\"; make that part a mesh axis of its own";
        if (mesh.getAxisSize(axis.getName()).value_or(1) > 1)
          axes.push_back(StringAttr::get(step.getContext(), axis.getName()));
      }
      dimensions.push_back(ArrayAttr::get(step.getContext(), axes));
    }
    return Distribution{globalType, ShardingAttr::get(step.getContext(), dimensions)};
  }

  bool isStepArgument(Value value) {
    return value.getParentBlock() == &step.getBody().front() && isa<BlockArgument>(value);
  }

  const Distribution *getSplit(Value value) {
    auto found = splits.find(value);
    return found == splits.end() ? nullptr : &found->second;
  }

  /// Returns the name of an operand's value for a message.
  std::string describe(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return ("the result of '" + value.getDefiningOp()->getName().getStringRef() + "'").str();
    std::string text = "argument " + std::to_string(argument.getArgNumber());
    if (StringRef name = getArgumentName(argument); !name.empty())
      text += (" (" + name + ")").str();
    return text;
  }

  /// Splits a step argument as the computations take it. If they disagree, or if an op around them reads it,
  /// every rank gets it whole.
  LogicalResult distributeArgument(BlockArgument argument) {
    std::optional<Distribution> agreed;
    Operation *reader = nullptr;
    bool isSplit = false;
    for (OpOperand &use : argument.getUses()) {
      auto computation = dyn_cast<sdy::ManualComputationOp>(use.getOwner());
      if (!computation) {
        if (!isa<func::ReturnOp>(use.getOwner()))
          reader = use.getOwner();
        continue;
      }
      FailureOr<Distribution> taken =
          getDistribution(computation, argument.getType(),
                          computation.getInShardings().getShardings()[use.getOperandNumber()]);
      if (failed(taken))
        return failure();
      isSplit |= !taken->isReplicated();
      if (agreed && agreed->sharding != taken->sharding)
        reader = computation;
      agreed = *taken;
    }
    if (!isSplit)
      return success();
    if (!reader) {
      splits[argument] = *agreed;
      return success();
    }
    mlir::emitWarning(reader->getLoc())
        << describe(argument) << " is kept whole on every rank, since '" << reader->getName()
        << "' reads it as a whole; do that inside shard_map, or in the same way everywhere";
    return success();
  }

  /// Cuts values that every rank has whole where a computation takes pieces.
  LogicalResult distributeOperands(sdy::ManualComputationOp computation) {
    for (OpOperand &operand : computation->getOpOperands()) {
      Value value = operand.get();
      FailureOr<Distribution> taken =
          getDistribution(computation, value.getType(),
                          computation.getInShardings().getShardings()[operand.getOperandNumber()]);
      if (failed(taken))
        return failure();
      const Distribution *split = getSplit(value);
      if ((split ? split->sharding : Distribution::replicated(value.getType()).sharding) == taken->sharding)
        continue;
      if (split)
        return emitError(computation)
               << "takes " << describe(value) << " split as " << taken->sharding << ", but it is split as "
               << split->sharding << "; split it the same way, or do both in one shard_map";
      auto piece =
          cast<RankedTensorType>(computation.getBody().getArgument(operand.getOperandNumber()).getType());
      if (!piece.hasStaticShape())
        return emitError(computation)
               << "takes a piece of " << describe(value) << ", and expects a static shape to cut, got "
               << piece << "; export with static shapes";
      mlir::emitRemark(computation.getLoc())
          << describe(value) << " is whole on every rank, which takes its piece of it";
      OpBuilder builder(computation);
      operand.set(createRankSlice(builder, computation.getLoc(), value, taken->sharding, mesh, piece));
    }
    for (auto [value, sharding] :
         llvm::zip_equal(computation.getResults(), computation.getOutShardings().getShardings())) {
      FailureOr<Distribution> given = getDistribution(computation, value.getType(), sharding);
      if (failed(given))
        return failure();
      if (!given->isReplicated())
        splits[value] = *given;
    }
    return success();
  }

  /// Checks that every rank has the values whole that ops outside the computations read.
  LogicalResult checkOpsAround() {
    WalkResult result = step.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<sdy::ManualComputationOp>(op))
        return WalkResult::skip();
      if (isa<func::ReturnOp>(op))
        return WalkResult::advance();
      for (Value operand : op->getOperands()) {
        const Distribution *split = getSplit(operand);
        if (!split)
          continue;
        emitError(op) << "is outside of shard_map and reads " << describe(operand) << ", which is split as "
                      << split->sharding << "; move the op into shard_map";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void inlineBody(sdy::ManualComputationOp computation) {
    Block &body = computation.getBody().front();
    Operation *terminator = body.getTerminator();
    for (auto [inner, outer] : llvm::zip_equal(body.getArguments(), computation.getTensors())) {
      // Only step arguments are still global here: they become local now.
      if (isStepArgument(outer) && getSplit(outer))
        outer.setType(inner.getType());
      inner.replaceAllUsesWith(outer);
    }
    for (auto [outer, inner] : llvm::zip_equal(computation.getResults(), terminator->getOperands()))
      outer.replaceAllUsesWith(inner);
    terminator->erase();
    Block *parent = computation->getBlock();
    parent->getOperations().splice(computation->getIterator(), body.getOperations());
    computation.erase();
  }

  void setForm() {
    auto distributionOf = [&](Value value, Type globalType) {
      const Distribution *split = getSplit(value);
      return split ? *split : Distribution::replicated(globalType);
    };
    SmallVector<Distribution> arguments;
    SmallVector<Distribution> results;
    for (BlockArgument argument : step.getArguments())
      arguments.push_back(distributionOf(argument, argument.getType()));
    Operation *terminator = step.getBody().front().getTerminator();
    for (Value result : terminator->getOperands())
      results.push_back(distributionOf(result, result.getType()));

    for (sdy::ManualComputationOp computation : computations)
      inlineBody(computation);
    step.setType(FunctionType::get(step.getContext(), step.getBody().front().getArgumentTypes(),
                                   terminator->getOperandTypes()));
    setPerRankForm(step, mesh, arguments, results);
  }

  func::FuncOp step;
  MeshAttr mesh;
  SmallVector<sdy::ManualComputationOp> computations;
  llvm::DenseMap<Value, Distribution> splits;
};
} // namespace

LogicalResult cgx::inlineManualComputations(func::FuncOp step) {
  return ManualComputationInliner(step).run();
}
