//===-- ImportShardCollectives.cpp - from shard to cgx ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveIds.h"
#include "cgx/Passes/Import.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace cgx {
#define GEN_PASS_DEF_IMPORTSHARDCOLLECTIVESPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

static std::optional<Reduction> getReduction(shard::ReductionKind kind) {
  switch (kind) {
  case shard::ReductionKind::Sum:
    return Reduction::Sum;
  case shard::ReductionKind::Average:
    return Reduction::Mean;
  case shard::ReductionKind::Max:
    return Reduction::Max;
  case shard::ReductionKind::Min:
    return Reduction::Min;
  case shard::ReductionKind::Product:
    return Reduction::Product;
  default:
    return std::nullopt;
  }
}

namespace {
class ShardCollectiveImporter {
public:
  ShardCollectiveImporter(ModuleOp module) : module(module), ids(module) {}

  LogicalResult run() {
    SmallVector<Operation *> collectives;
    module.walk([&](Operation *op) {
      if (isa<shard::AllReduceOp, shard::AllGatherOp, shard::ReduceScatterOp, shard::AllToAllOp>(op))
        collectives.push_back(op);
    });
    for (Operation *op : collectives) {
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<shard::AllReduceOp, shard::AllGatherOp, shard::ReduceScatterOp, shard::AllToAllOp>(
                  [&](auto collective) { return import(collective); });
      if (failed(result))
        return failure();
    }
    for (shard::GridOp grid : llvm::make_early_inc_range(module.getOps<shard::GridOp>()))
      if (SymbolTable::symbolKnownUseEmpty(grid, module))
        grid.erase();
    return success();
  }

private:
  /// The arguments that all cgx collectives take, after those of their own.
  struct Common {
    int64_t id;
    GroupsAttr groups;
    ArrayAttr codecs;
    ArrayAttr layers;
  };

  template <typename OpT> FailureOr<Common> getCommon(OpT op) {
    auto grid = SymbolTable::lookupNearestSymbolFrom<shard::GridOp>(op, op.getGridAttr());
    if (!grid)
      return op.emitOpError() << "names an unknown grid @" << op.getGrid();
    SmallVector<StringAttr> names;
    for (auto [i, size] : llvm::enumerate(grid.getShape())) {
      if (ShapedType::isDynamic(size))
        return op.emitOpError() << "communicates over @" << op.getGrid()
                                << ", whose shape is not static; the ranks of a group must be known";
      names.push_back(StringAttr::get(module.getContext(), Twine(i)));
    }
    auto mesh = MeshAttr::getChecked([&] { return op.emitOpError(); }, module.getContext(), ArrayRef(names),
                                     grid.getShape());
    if (!mesh)
      return failure();
    SmallVector<StringRef> axes;
    for (shard::GridAxis axis : op.getGridAxes())
      axes.push_back(names[axis]);
    return Common{ids.take(), mesh.getGroupsOver(axes), getIdentityCodecs(module.getContext(), 1),
                  getUnknownLayers(module.getContext(), 1)};
  }

  /// Returns the reduction, or nothing if cgx has no counterpart: such an op stays, and only native lowering
  /// rejects it.
  template <typename OpT> std::optional<Reduction> getSupportedReduction(OpT op) {
    std::optional<Reduction> reduction = getReduction(op.getReduction());
    if (!reduction)
      op.emitRemark() << "'" << op->getName() << "' stays as it is: cgx has no reduction '"
                      << shard::stringifyReductionKind(op.getReduction()) << "'";
    return reduction;
  }

  LogicalResult import(shard::AllReduceOp op) {
    std::optional<Reduction> reduction = getSupportedReduction(op);
    if (!reduction || !isa<RankedTensorType>(op.getInput().getType()) ||
        op.getInput().getType() != op.getType())
      return success();
    FailureOr<Common> common = getCommon(op);
    return failed(common) ? failure() : replace<AllReduceOp>(op, [&](OpBuilder &builder) {
      return AllReduceOp::create(builder, op.getLoc(), TypeRange(op.getType()), ValueRange(op.getInput()),
                                 *reduction, common->id, common->groups, common->codecs, common->layers,
                                 Algorithm::Auto, /*hierarchy=*/nullptr, /*exact_reasons=*/nullptr);
    });
  }

  LogicalResult import(shard::AllGatherOp op) {
    FailureOr<Common> common = getCommon(op);
    return failed(common) ? failure() : replace<AllGatherOp>(op, [&](OpBuilder &builder) {
      return AllGatherOp::create(builder, op.getLoc(), TypeRange(op.getType()), ValueRange(op.getInput()),
                                 op.getGatherAxis().getSExtValue(), common->id, common->groups,
                                 common->codecs, common->layers, /*exact_reasons=*/nullptr,
                                 /*origins=*/nullptr,
                                 /*decodes_again=*/nullptr);
    });
  }

  LogicalResult import(shard::ReduceScatterOp op) {
    std::optional<Reduction> reduction = getSupportedReduction(op);
    if (!reduction || getElementTypeOrSelf(op.getInput()) != getElementTypeOrSelf(op.getResult()))
      return success();
    FailureOr<Common> common = getCommon(op);
    return failed(common) ? failure() : replace<ReduceScatterOp>(op, [&](OpBuilder &builder) {
      return ReduceScatterOp::create(builder, op.getLoc(), TypeRange(op.getType()), ValueRange(op.getInput()),
                                     *reduction, op.getScatterAxis().getSExtValue(), common->id,
                                     common->groups, common->codecs, common->layers,
                                     /*exact_reasons=*/nullptr);
    });
  }

  LogicalResult import(shard::AllToAllOp op) {
    FailureOr<Common> common = getCommon(op);
    return failed(common) ? failure() : replace<AllToAllOp>(op, [&](OpBuilder &builder) {
      return AllToAllOp::create(builder, op.getLoc(), TypeRange(op.getType()), ValueRange(op.getInput()),
                                op.getSplitAxis().getSExtValue(), op.getConcatAxis().getSExtValue(),
                                common->id, common->groups, common->codecs, common->layers,
                                /*exact_reasons=*/nullptr);
    });
  }

  template <typename OpT> LogicalResult replace(Operation *op, function_ref<OpT(OpBuilder &)> create) {
    OpBuilder builder(op);
    OpT made = create(builder);
    op->replaceAllUsesWith(made);
    op->erase();
    return success();
  }

  ModuleOp module;
  CollectiveIds ids;
};

struct ImportShardCollectivesPass : cgx::impl::ImportShardCollectivesPassBase<ImportShardCollectivesPass> {
  void runOnOperation() final {
    if (failed(ShardCollectiveImporter(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
