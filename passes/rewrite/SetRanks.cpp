//===-- SetRanks.cpp - A step for another number of ranks -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankDivision.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace cgx {
#define GEN_PASS_DEF_SETRANKSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns whether the op passes the elements of a sum on to where they are divided.
bool passesElementsOn(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::ConvertOp, stablehlo::TransposeOp, stablehlo::BroadcastInDimOp,
             stablehlo::OptimizationBarrierOp>(op);
}

/// Returns the name of an operand for a message.
std::string describe(AllReduceOp op, unsigned operand) {
  StringRef name = op.getLayer(operand).getName();
  return name.empty() ? "operand " + std::to_string(operand) : "layer '" + name.str() + "'";
}

struct SetRanks : impl::SetRanksPassBase<SetRanks> {
  using SetRanksPassBase::SetRanksPassBase;

  /// Accepts `--cgx-set-ranks=8` as short for `ranks=8`.
  LogicalResult initializeOptions(StringRef options,
                                  function_ref<LogicalResult(const Twine &)> errorHandler) override {
    std::string text = options.str();
    if (!options.empty() && llvm::all_of(options, llvm::isDigit))
      text = "ranks=" + text;
    return SetRanksPassBase::initializeOptions(text, errorHandler);
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager import(ModuleOp::getOperationName());
    import.addPass(createEnsurePerRankPass());
    import.getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    reduces.clear();
    divisions.clear();
    if (ranks < 1 || ranks > (1 << 20)) {
      module.emitError() << "--cgx-set-ranks: expected 1 to 1048576 ranks, got " << ranks.getValue();
      return signalPassFailure();
    }
    OpPassManager import(ModuleOp::getOperationName());
    import.addPass(createEnsurePerRankPass());
    if (failed(runPipeline(import, module)))
      return signalPassFailure();

    auto number = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
    if (!number) {
      module.emitError() << "--cgx-set-ranks: the step has no collectives, and so no ranks: it runs on any "
                            "number of them as it is";
      return signalPassFailure();
    }
    before = number.getInt();
    if (before == ranks)
      return;
    if (before == 1) {
      module.emitError() << "--cgx-set-ranks: the step was exported for 1 rank, whose collectives leave no "
                            "trace of what is to be averaged; export it for 2 devices or more";
      return signalPassFailure();
    }
    step = module.lookupSymbol<func::FuncOp>("main");
    if (failed(checkMesh()) || failed(checkOps()) || failed(findDivisions()) || failed(checkState()))
      return signalPassFailure();
    rewrite();
  }

private:
  LogicalResult checkMesh() {
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttrName);
    if (!mesh || llvm::count_if(mesh.getSizes(), [](int64_t size) { return size > 1; }) <= 1)
      return success();
    return getOperation().emitError() << "--cgx-set-ranks: the mesh " << mesh << " has more than one axis: "
                                      << "export the step for the mesh that it is to run on";
  }

  /// Checks that only all-reduces over all ranks communicate: nothing else has the same meaning, and the same
  /// shapes, on more ranks.
  LogicalResult checkOps() {
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(before));
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(op)) {
        op->emitError() << "--cgx-set-ranks: what the step does with the number of its rank may hold for "
                        << before << " ranks only: export it for " << ranks.getValue();
        return WalkResult::interrupt();
      }
      auto communication = dyn_cast<CommunicationOpInterface>(op);
      if (!communication)
        return WalkResult::advance();
      auto reduce = dyn_cast<AllReduceOp>(op);
      if (!reduce) {
        op->emitError() << "--cgx-set-ranks: the shapes of " << op->getName() << " are those of " << before
                        << " ranks: export the step for " << ranks.getValue();
        return WalkResult::interrupt();
      }
      ArrayRef<DenseI64ArrayAttr> rows = reduce.getGroups().getRows();
      if (rows.size() != 1 || rows.front().asArrayRef() != ArrayRef(all)) {
        op->emitError() << "--cgx-set-ranks: expected a collective of all " << before << " ranks, got "
                        << reduce.getGroups() << ": which groups others would be in, the step does not say";
        return WalkResult::interrupt();
      }
      reduces.push_back(reduce);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult findDivisions() {
    for (AllReduceOp reduce : reduces) {
      if (reduce.getReductionKind() != Reduction::Sum)
        continue;
      for (auto [operand, input] : llvm::enumerate(reduce.getInputs())) {
        // A count is a count on any number of ranks.
        if (!isa<FloatType>(cast<RankedTensorType>(input.getType()).getElementType()))
          continue;
        if (!addDivisions(reduce.getResultTensors()[operand])) {
          SmallVector<RankDivision> scalars = getScalarDivisions(input, static_cast<double>(before));
          if (scalars.empty())
            return reduce.emitError() << "--cgx-set-ranks: " << describe(reduce, operand)
                                      << " is a sum over the ranks that is not "
                                      << "divided by " << before
                                      << ": what the step divides by elsewhere cannot be told; average "
                                      << "with lax.pmean, or export it for " << ranks.getValue();
          // It may divide a gradient as well, which is multiplied by as many ranks in place of its sum.
          if (trainsLocally())
            return reduce.emitError() << "--cgx-set-ranks: " << describe(reduce, operand)
                                      << " is averaged before it is added up, and the step trains locally "
                                      << "already: give --cgx-set-ranks before --cgx-local-steps";
          for (RankDivision division : scalars)
            divisions.insert({division.number, division.isReciprocal});
        }
      }
    }
    return success();
  }

  /// Returns whether all uses of a sum divide it, and adds these divisions.
  bool addDivisions(Value sum) {
    llvm::SetVector<Value> worklist;
    worklist.insert(sum);
    SmallVector<RankDivision> found;
    for (size_t i = 0; i < worklist.size(); ++i)
      for (Operation *user : worklist[i].getUsers())
        if (std::optional<RankDivision> division = getDivisionBy(user, static_cast<double>(before)))
          found.push_back(*division);
        else if (passesElementsOn(user))
          worklist.insert(user->result_begin(), user->result_end());
        else
          return false;
    for (RankDivision division : found)
      divisions.insert({division.number, division.isReciprocal});
    return !found.empty();
  }

  /// Checks that no state is split, except data, of which each rank takes as much as before, and state that
  /// each rank has of its own in local training. Other state that is split has shapes that depend on the
  /// number of ranks.
  LogicalResult checkState() {
    if (!step)
      return getOperation().emitError() << "--cgx-set-ranks: expected a function 'main'";
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (auto feeds = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName))
        if (isSplit(step.getArgAttr(feeds.getInt(), kShardingAttrName)) && !isOfEachRank(feeds.getInt())) {
          auto name = step.getArgAttrOfType<StringAttr>(feeds.getInt(), kNameAttrName);
          return step.emitError() << "--cgx-set-ranks: state '" << (name ? name.getValue() : "")
                                  << "' is split over the " << before << " ranks: export the step for "
                                  << ranks.getValue();
        }
    return success();
  }

  /// Returns whether cgx-local-steps made the argument: its first dimension counts ranks, and it has an
  /// initial tensor.
  bool isOfEachRank(unsigned argument) {
    auto sharding = step.getArgAttrOfType<ShardingAttr>(argument, kShardingAttrName);
    auto type = dyn_cast<RankedTensorType>(step.getArgumentTypes()[argument]);
    return step.getArgAttrOfType<StringAttr>(argument, kInitialAttrName) && sharding && type &&
           type.getRank() > 0 && type.getDimSize(0) == 1 &&
           llvm::all_of(sharding.getDimensions().drop_front(), [](ArrayAttr axes) { return axes.empty(); });
  }

  bool trainsLocally() {
    return step && llvm::any_of(llvm::seq(step.getNumArguments()),
                                [&](unsigned argument) { return isOfEachRank(argument); });
  }

  static bool isSplit(Attribute attribute) {
    auto sharding = dyn_cast_or_null<ShardingAttr>(attribute);
    return sharding && llvm::any_of(sharding.getDimensions(), [](ArrayAttr axes) { return !axes.empty(); });
  }

  void rewrite() {
    ModuleOp module = getOperation();
    Builder builder(module.getContext());
    module->setAttr(kNumRanksAttrName, builder.getI64IntegerAttr(ranks));
    for (StringRef name : {"mhlo.num_partitions", "mhlo.num_replicas"})
      if (auto count = module->getAttrOfType<IntegerAttr>(name); count && count.getInt() == before)
        module->setAttr(name, builder.getIntegerAttr(count.getType(), ranks));
    if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName)) {
      SmallVector<int64_t> sizes(mesh.getSizes());
      for (int64_t &size : sizes)
        size = size == 1 ? 1 : ranks;
      module->setAttr(kMeshAttrName, MeshAttr::get(module.getContext(), mesh.getAxes(), sizes));
    }
    SmallVector<SmallVector<int64_t>> all = {llvm::to_vector(llvm::seq<int64_t>(ranks))};
    auto groups = GroupsAttr::get(module.getContext(), all);
    for (AllReduceOp reduce : reduces)
      reduce.setGroupsAttr(groups);
    for (auto [number, isReciprocal] : divisions)
      replaceNumber(*number, isReciprocal ? 1.0 / ranks : static_cast<double>(ranks));
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (TypeAttr type = getGlobalType(step.getArgAttrDict(i), step.getArgumentTypes()[i]))
        step.setArgAttr(i, kGlobalTypeAttrName, type);
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (TypeAttr type = getGlobalType(step.getResultAttrDict(i), step.getResultTypes()[i]))
        step.setResultAttr(i, kGlobalTypeAttrName, type);
    mlir::emitRemark(reduces.front().getLoc())
        << "--cgx-set-ranks: for " << ranks.getValue() << " ranks in place of " << before << ": "
        << reduces.size() << (reduces.size() == 1 ? " all_reduce" : " all_reduces") << ", "
        << divisions.size() << (divisions.size() == 1 ? " division" : " divisions")
        << " by the number of ranks; each rank takes as many samples as before";
  }

  static void replaceNumber(OpOperand &operand, double number) {
    Operation *op = operand.getOwner();
    auto type = cast<RankedTensorType>(operand.get().getType());
    OpBuilder builder(op);
    auto value = DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), number));
    Operation *constant = op->getDialect()->materializeConstant(builder, value, type, op->getLoc());
    operand.set(constant->getResult(0));
  }

  /// Returns the type of all parts of a split value together; null for one that is not split.
  TypeAttr getGlobalType(DictionaryAttr attributes, Type local) {
    auto type = dyn_cast<RankedTensorType>(local);
    if (!attributes || !type || !isSplit(attributes.get(kShardingAttrName)))
      return {};
    SmallVector<int64_t> shape(type.getShape());
    auto sharding = attributes.getAs<ShardingAttr>(kShardingAttrName);
    for (auto [size, axes] : llvm::zip_equal(shape, sharding.getDimensions()))
      if (!axes.empty())
        size *= ranks;
    return TypeAttr::get(type.clone(shape));
  }

  int64_t before = 0;
  func::FuncOp step;
  SmallVector<AllReduceOp> reduces;
  llvm::MapVector<OpOperand *, bool> divisions; ///< whether the operand is the reciprocal
};

} // namespace
} // namespace cgx
