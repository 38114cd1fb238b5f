//===-- ImportStablehloCollectives.cpp - from StableHLO to cgx --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveIds.h"
#include "ReplicaGroups.h"
#include "cgx/Dialect/Sdy/SdyDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

#include <unordered_set>

namespace cgx {
#define GEN_PASS_DEF_IMPORTSTABLEHLOCOLLECTIVESPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// Attributes of the ops
//===----------------------------------------------------------------------===//

/// Returns an attribute of a collective, whether it was read as a property or not.
template <typename AttrT = Attribute> static AttrT getAttribute(Operation *op, StringRef name) {
  Attribute attribute = op->getInherentAttr(name).value_or(nullptr);
  return dyn_cast_or_null<AttrT>(attribute ? attribute : op->getDiscardableAttr(name));
}

static int64_t getChannel(Operation *op) {
  auto handle = getAttribute<stablehlo::ChannelHandleAttr>(op, "channel_handle");
  return handle ? handle.getHandle() : 0;
}

/// Returns the reduction of a body that is one op on its two arguments.
static std::optional<Reduction> getReduction(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return std::nullopt;
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != 2 || body.getOperations().size() != 2)
    return std::nullopt;
  Operation &reducer = body.front();
  Operation *terminator = body.getTerminator();
  if (reducer.getNumOperands() != 2 || reducer.getNumResults() != 1 || terminator->getNumOperands() != 1 ||
      terminator->getOperand(0) != reducer.getResult(0))
    return std::nullopt;
  bool inOrder = reducer.getOperand(0) == body.getArgument(0) && reducer.getOperand(1) == body.getArgument(1);
  bool swapped = reducer.getOperand(0) == body.getArgument(1) && reducer.getOperand(1) == body.getArgument(0);
  if (!inOrder && !swapped)
    return std::nullopt;
  bool isBoolean = getElementTypeOrSelf(body.getArgument(0)).isInteger(1);
  using Kind = std::optional<Reduction>;
  return llvm::TypeSwitch<Operation *, Kind>(&reducer)
      .Case(
          [&](stablehlo::AddOp) { return isBoolean ? Reduction::Max : Reduction::Sum; }) // On i1, add is or.
      .Case([](stablehlo::MaxOp) { return Reduction::Max; })
      .Case([](stablehlo::MinOp) { return Reduction::Min; })
      .Case([&](stablehlo::MulOp) { return isBoolean ? Reduction::Min : Reduction::Product; })
      .Case([&](stablehlo::AndOp) { return isBoolean ? Kind(Reduction::Min) : std::nullopt; })
      .Case([&](stablehlo::OrOp) { return isBoolean ? Kind(Reduction::Max) : std::nullopt; })
      .Default(Kind());
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Returns the group mode of all_gather, all_reduce and reduce_scatter.
static GroupMode getReplicaGroupMode(Operation *op) {
  if (getChannel(op) <= 0)
    return GroupMode::CrossReplica;
  return getAttribute(op, "use_global_device_ids") ? GroupMode::FlattenedIds
                                                   : GroupMode::CrossReplicaAndPartition;
}

/// Returns the group mode of all_to_all, collective_broadcast and collective_permute.
static GroupMode getPartitionGroupMode(Operation *op) {
  return getChannel(op) <= 0 ? GroupMode::CrossReplica : GroupMode::CrossPartition;
}

static std::optional<int64_t> getModuleCount(ModuleOp module, StringRef name) {
  auto count = module->getAttrOfType<IntegerAttr>(name);
  return count ? std::optional(count.getInt()) : std::nullopt;
}

/// Returns the processes of the program. One that only says how many ranks there are, as
/// if written by hand, has them where the collective looks for them.
static ProcessGrid getProcessGrid(ModuleOp module, GroupMode mode) {
  std::optional<int64_t> replicas = getModuleCount(module, "mhlo.num_replicas");
  std::optional<int64_t> partitions = getModuleCount(module, "mhlo.num_partitions");
  ProcessGrid grid{replicas.value_or(1), partitions.value_or(1)};
  int64_t ranks = getModuleCount(module, kNumRanksAttrName).value_or(grid.getProcessCount());
  if (grid.getProcessCount() == ranks)
    return grid;
  return mode == GroupMode::CrossReplica ? ProcessGrid{ranks, 1} : ProcessGrid{1, ranks};
}

namespace {
class StablehloCollectiveImporter {
public:
  StablehloCollectiveImporter(ModuleOp module) : module(module), ids(module) {}

  LogicalResult run() {
    if (failed(inlineAsyncRegions()))
      return failure();
    // Only collectives are collected: the contents of their regions go with them.
    SmallVector<std::pair<Operation *, Importer>> collectives;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (Importer importer = getImporter(op))
        collectives.push_back({op, importer});
    });
    for (auto [op, importer] : collectives)
      if (failed((this->*importer)(op)))
        return failure();
    eraseUnusedMeshes();
    return success();
  }

private:
  using Importer = LogicalResult (StablehloCollectiveImporter::*)(Operation *);

  /// Replaces an async_start whose region is a collective, and its async_done, by the collective: overlap is
  /// scheduled anew later.
  LogicalResult inlineAsyncRegions() {
    SmallVector<Operation *> starts;
    module.walk([&](Operation *op) {
      if (isa<stablehlo::AsyncStartOp>(op))
        starts.push_back(op);
    });
    for (Operation *start : starts) {
      Operation *done = start->hasOneUse() ? *start->user_begin() : nullptr;
      if (!isa_and_nonnull<stablehlo::AsyncDoneOp>(done) || start->getNumRegions() != 1)
        return start->emitOpError() << "expected one async_done that takes the result";
      Block &body = start->getRegion(0).front();
      for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), start->getOperands()))
        argument.replaceAllUsesWith(operand);
      Operation *terminator = body.getTerminator();
      done->replaceAllUsesWith(terminator->getOperands());
      done->erase();
      terminator->erase();
      start->getBlock()->getOperations().splice(start->getIterator(), body.getOperations());
      start->erase();
    }
    return success();
  }

  /// Erases sdy meshes: in a per-rank program only mesh-axes groups still refer to them.
  void eraseUnusedMeshes() {
    if (!module->hasAttr(kNumRanksAttrName))
      return;
    for (sdy::MeshOp mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      if (SymbolTable::symbolKnownUseEmpty(mesh, module))
        mesh.erase();
  }

  static Importer getImporter(Operation *op) {
    return llvm::TypeSwitch<Operation *, Importer>(op)
        .Case([](stablehlo::AllReduceOp) { return &StablehloCollectiveImporter::importAllReduce; })
        .Case(
            [](stablehlo::CrossReplicaSumOp) { return &StablehloCollectiveImporter::importCrossReplicaSum; })
        .Case([](stablehlo::AllGatherOp) { return &StablehloCollectiveImporter::importAllGather; })
        .Case([](stablehlo::ReduceScatterOp) { return &StablehloCollectiveImporter::importReduceScatter; })
        .Case([](stablehlo::AllToAllOp) { return &StablehloCollectiveImporter::importAllToAll; })
        .Case([](stablehlo::CollectiveBroadcastOp) { return &StablehloCollectiveImporter::importBroadcast; })
        .Case([](stablehlo::CollectivePermuteOp) { return &StablehloCollectiveImporter::importPermute; })
        .Default(Importer());
  }

  //===--------------------------------------------------------------------===//
  // Groups
  //===--------------------------------------------------------------------===//

  FailureOr<GroupsAttr> getGroups(Operation *op, GroupMode mode) {
    auto emitError = [&] { return op->emitOpError(); };
    FailureOr<RankRows> rows = failure();
    if (auto axes = getAttribute<stablehlo::ReplicaGroupMeshAxesAttr>(op, "replica_groups"))
      rows = getGroupsOverAxes(op, axes);
    else if (auto matrix = getAttribute<DenseIntElementsAttr>(op, "replica_groups"))
      rows = getRankGroups(matrix, mode, getProcessGrid(module, mode), emitError);
    else
      return op->emitOpError() << "expected replica_groups to be a matrix of integers or axes of a mesh, got "
                               << getAttribute(op, "replica_groups");
    if (failed(rows))
      return failure();
    return checkGroups(op, *rows);
  }

  /// Returns the groups over axes of a mesh, which is written out or the symbol of an sdy.mesh.
  FailureOr<RankRows> getGroupsOverAxes(Operation *op, stablehlo::ReplicaGroupMeshAxesAttr groups) {
    SmallVector<std::pair<StringRef, int64_t>> axes;
    SmallVector<int64_t> deviceIds;
    if (auto mesh = dyn_cast<stablehlo::MeshAttr>(groups.getMesh())) {
      for (stablehlo::MeshAxisAttr axis : mesh.getAxes())
        axes.push_back({axis.getName(), axis.getSize()});
      if (DenseIntElementsAttr ids = mesh.getDeviceIds())
        for (const APInt &id : ids.getValues<APInt>())
          deviceIds.push_back(id.getSExtValue());
    } else {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(groups.getMesh());
      auto meshOp = symbol ? module.lookupSymbol<sdy::MeshOp>(symbol.getValue()) : sdy::MeshOp();
      if (!meshOp)
        return op->emitOpError() << "names an unknown mesh " << groups.getMesh();
      for (sdy::MeshAxisAttr axis : meshOp.getMesh().getAxes())
        axes.push_back({axis.getName(), axis.getSize()});
      llvm::append_range(deviceIds, meshOp.getMesh().getDeviceIds());
    }
    SmallVector<MeshAxisPart> parts;
    for (stablehlo::AxisRefAttr axis : groups.getAxes()) {
      auto part = axis.getSubAxisInfo();
      parts.push_back(part ? MeshAxisPart{axis.getName(), part.getPreSize(), part.getSize()}
                           : MeshAxisPart{axis.getName()});
    }
    return getRankGroupsOverAxes(axes, deviceIds, parts, [&] { return op->emitOpError(); });
  }

  /// Rejects groups that overlap, which have no meaning.
  FailureOr<GroupsAttr> checkGroups(Operation *op, const RankRows &rows) {
    std::unordered_set<int64_t> ranks;
    for (ArrayRef<int64_t> row : rows)
      for (int64_t rank : row)
        if (!ranks.insert(rank).second)
          return op->emitOpError() << "expected each process in one group, got " << rank << " twice";
    return GroupsAttr::get(module.getContext(), ArrayRef(rows));
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  /// Leaves an op that has no counterpart in cgx, with a remark: only native lowering needs one.
  static LogicalResult keep(Operation *op, const Twine &reason) {
    op->emitRemark() << "'" << op->getName() << "' stays as it is: " << reason;
    return success();
  }

  static bool changesElementType(Operation *op) {
    return llvm::any_of(llvm::zip_equal(op->getOperands(), op->getResults()), [](auto pair) {
      return getElementTypeOrSelf(std::get<0>(pair)) != getElementTypeOrSelf(std::get<1>(pair));
    });
  }

  /// `create` makes the cgx op from the common arguments of all of them.
  using Create = function_ref<Operation *(OpBuilder &, GroupsAttr, ArrayAttr codecs, ArrayAttr layers)>;

  LogicalResult replace(Operation *op, GroupMode mode, Create create) {
    FailureOr<GroupsAttr> groups = getGroups(op, mode);
    if (failed(groups))
      return failure();
    OpBuilder builder(op);
    Operation *made = create(builder, *groups, getIdentityCodecs(op->getContext(), op->getNumOperands()),
                             getUnknownLayers(op->getContext(), op->getNumOperands()));
    op->replaceAllUsesWith(made->getResults());
    op->erase();
    return success();
  }

  LogicalResult replaceReduction(
      Operation *op,
      function_ref<Operation *(OpBuilder &, Reduction, GroupsAttr, ArrayAttr, ArrayAttr)> create) {
    std::optional<Reduction> reduction = getReduction(op);
    if (!reduction)
      return keep(op, "its reduction is not one add, maximum, minimum or multiply");
    if (changesElementType(op))
      return keep(op, "it reduces in another element type than its operand's");
    return replace(op, getReplicaGroupMode(op),
                   [&](OpBuilder &builder, GroupsAttr groups, ArrayAttr codecs, ArrayAttr layers) {
                     return create(builder, *reduction, groups, codecs, layers);
                   });
  }

  LogicalResult importAllReduce(Operation *op) {
    return replaceReduction(op, [&](OpBuilder &builder, Reduction reduction, GroupsAttr groups,
                                    ArrayAttr codecs, ArrayAttr layers) {
      return AllReduceOp::create(builder, op->getLoc(), op->getResultTypes(), op->getOperands(), reduction,
                                 ids.take(), groups, codecs, layers, Algorithm::Auto, /*hierarchy=*/nullptr,
                                 /*exact_reasons=*/nullptr);
    });
  }

  /// Imports cross-replica-sum, which all_reduce was before it had a region.
  LogicalResult importCrossReplicaSum(Operation *op) {
    return replace(op, GroupMode::CrossReplica,
                   [&](OpBuilder &builder, GroupsAttr groups, ArrayAttr codecs, ArrayAttr layers) {
                     return AllReduceOp::create(builder, op->getLoc(), op->getResultTypes(),
                                                op->getOperands(), Reduction::Sum, ids.take(), groups, codecs,
                                                layers, Algorithm::Auto, /*hierarchy=*/nullptr,
                                                /*exact_reasons=*/nullptr);
                   });
  }

  LogicalResult importReduceScatter(Operation *op) {
    return replaceReduction(op, [&](OpBuilder &builder, Reduction reduction, GroupsAttr groups,
                                    ArrayAttr codecs, ArrayAttr layers) {
      return ReduceScatterOp::create(builder, op->getLoc(), op->getResultTypes(), op->getOperands(),
                                     reduction, getInteger(op, "scatter_dimension"), ids.take(), groups,
                                     codecs, layers, /*exact_reasons=*/nullptr);
    });
  }

  LogicalResult importAllGather(Operation *op) {
    return replace(op, getReplicaGroupMode(op),
                   [&](OpBuilder &builder, GroupsAttr groups, ArrayAttr codecs, ArrayAttr layers) {
                     return AllGatherOp::create(builder, op->getLoc(), op->getResultTypes(),
                                                op->getOperands(), getInteger(op, "all_gather_dim"),
                                                ids.take(), groups, codecs, layers,
                                                /*exact_reasons=*/nullptr, /*origins=*/nullptr,
                                                /*decodes_again=*/nullptr);
                   });
  }

  LogicalResult importAllToAll(Operation *op) {
    return replace(op, getPartitionGroupMode(op),
                   [&](OpBuilder &builder, GroupsAttr groups, ArrayAttr codecs, ArrayAttr layers) {
                     return AllToAllOp::create(builder, op->getLoc(), op->getResultTypes(), op->getOperands(),
                                               getInteger(op, "split_dimension"),
                                               getInteger(op, "concat_dimension"), ids.take(), groups, codecs,
                                               layers, /*exact_reasons=*/nullptr);
                   });
  }

  /// Imports a broadcast: the first process of each group sends, and those in no group get zeros.
  LogicalResult importBroadcast(Operation *op) {
    if (getAttribute(op, "has_dynamic_root"))
      return keep(op, "the process that sends is computed");
    GroupMode mode = getPartitionGroupMode(op);
    return replace(op, mode, [&](OpBuilder &builder, GroupsAttr groups, ArrayAttr codecs, ArrayAttr layers) {
      Operation *made =
          BroadcastOp::create(builder, op->getLoc(), op->getResultTypes(), op->getOperands(),
                              /*root=*/0, ids.take(), groups, codecs, layers, /*exact_reasons=*/nullptr);
      return getOrZeroOutsideOf(builder, groups, getProcessGrid(module, mode), made);
    });
  }

  /// Selects zeros outside of the groups: broadcast(x) -> select(is in a group, broadcast(x), 0), where a
  /// rank is in none. In cgx such a rank is a group of its own and would keep its operand.
  static Operation *getOrZeroOutsideOf(OpBuilder &builder, GroupsAttr groups, const ProcessGrid &grid,
                                       Operation *collective) {
    SmallVector<bool> isMember(grid.getProcessCount(), false);
    for (ArrayRef<int64_t> row : groups.getRows())
      for (int64_t rank : row)
        isMember[rank] = true;
    if (!llvm::is_contained(isMember, false))
      return collective;
    Location loc = collective->getLoc();
    Value rank = getRank(builder, loc, grid);
    auto flags = RankedTensorType::get(grid.getProcessCount(), builder.getI1Type());
    Value members = stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(flags, isMember));
    Value flag = stablehlo::DynamicSliceOp::create(builder, loc, flags.clone({1}), members, rank,
                                                   builder.getDenseI64ArrayAttr({1}));
    Value condition =
        stablehlo::ReshapeOp::create(builder, loc, RankedTensorType::get({}, builder.getI1Type()), flag);
    auto type = cast<RankedTensorType>(collective->getResult(0).getType());
    Value zeros = stablehlo::ConstantOp::create(builder, loc, cast<ElementsAttr>(builder.getZeroAttr(type)));
    return stablehlo::SelectOp::create(builder, loc, type, condition, collective->getResult(0), zeros);
  }

  static Value getRank(OpBuilder &builder, Location loc, const ProcessGrid &grid) {
    auto type = RankedTensorType::get({}, builder.getIntegerType(32, /*isSigned=*/false));
    Value replica = stablehlo::ReplicaIdOp::create(builder, loc, type);
    Value partition = stablehlo::PartitionIdOp::create(builder, loc, type);
    Value partitions =
        stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, APInt(32, grid.partitions)));
    Value offset = stablehlo::MulOp::create(builder, loc, type, replica, partitions);
    return stablehlo::AddOp::create(builder, loc, type, offset, partition);
  }

  /// Imports a permutation. In StableHLO it has no groups; in cgx all ranks form one group.
  LogicalResult importPermute(Operation *op) {
    auto matrix = getAttribute<DenseIntElementsAttr>(op, "source_target_pairs");
    GroupMode mode = getPartitionGroupMode(op);
    ProcessGrid grid = getProcessGrid(module, mode);
    if (!matrix)
      return op->emitOpError() << "expected source_target_pairs to be a matrix of integers";
    FailureOr<RankRows> pairs = getRankPairs(matrix, mode, grid, [&] { return op->emitOpError(); });
    if (failed(pairs))
      return failure();
    SmallVector<int64_t> flat;
    for (ArrayRef<int64_t> pair : *pairs)
      flat.append(pair.begin(), pair.end());
    OpBuilder builder(op);
    auto type = RankedTensorType::get({static_cast<int64_t>(pairs->size()), 2}, builder.getI64Type());
    RankRows all{llvm::to_vector(llvm::seq<int64_t>(grid.getProcessCount()))};
    auto made = PermuteOp::create(
        builder, op->getLoc(), op->getResultTypes(), op->getOperands(), DenseIntElementsAttr::get(type, flat),
        ids.take(), GroupsAttr::get(op->getContext(), ArrayRef(all)),
        getIdentityCodecs(op->getContext(), op->getNumOperands()),
        getUnknownLayers(op->getContext(), op->getNumOperands()), /*exact_reasons=*/nullptr);
    op->replaceAllUsesWith(made);
    op->erase();
    return success();
  }

  static int64_t getInteger(Operation *op, StringRef name) {
    auto value = getAttribute<IntegerAttr>(op, name);
    return value ? value.getInt() : 0;
  }

  ModuleOp module;
  CollectiveIds ids;
};

struct ImportStablehloCollectivesPass
    : cgx::impl::ImportStablehloCollectivesPassBase<ImportStablehloCollectivesPass> {
  void runOnOperation() final {
    if (failed(StablehloCollectiveImporter(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
