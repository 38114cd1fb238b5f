//===-- ImportManualComputation.cpp - one rank's program of a step ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HloSharding.h"
#include "ManualComputation.h"
#include "PerRankForm.h"
#include "cgx/Dialect/Sdy/SdyDialect.h"
#include "cgx/Dialect/Stablehlo/MhloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"

namespace cgx {
#define GEN_PASS_DEF_IMPORTMANUALCOMPUTATIONPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

/// Returns whether ranks exchange something in this op.
static bool communicates(Operation *op) {
  if (isa_and_nonnull<shard::ShardDialect>(op->getDialect()))
    return !isa<shard::GridOp, shard::ShardOp, shard::ShardingOp>(op);
  return isa_and_nonnull<CgxDialect>(op->getDialect()) || stablehlo::isCollective(op) ||
         isa<stablehlo::SendOp, stablehlo::RecvOp, stablehlo::AsyncStartOp>(op);
}

/// Returns an op or function whose attributes ask a partitioner to split something; null if there is none.
static Operation *findPartitionerInput(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (isa<sdy::ShardingConstraintOp, sdy::ReshardOp>(op) || op->hasAttr(sdy::kShardingAttrName) ||
        op->hasAttr(mhlo::kShardingAttrName))
      found = op;
    if (auto function = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (function.getArgAttr(i, sdy::kShardingAttrName) || function.getArgAttr(i, mhlo::kShardingAttrName))
          found = op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Rejects the shard_map of GSPMD, a chain of custom calls.
static LogicalResult refuseGspmd(ModuleOp module) {
  WalkResult result = module.walk([](stablehlo::CustomCallOp call) {
    StringRef target = call.getCallTargetName();
    if (target != "Sharding" && target != "SPMDFullToShardShape" && target != "SPMDShardToFullShape")
      return WalkResult::advance();
    emitError(call.getLoc())
        << "the step is partitioned by GSPMD (custom call @" << target
        << "); export it for Shardy: jax.config.update(\"jax_use_shardy_partitioner\", True)";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static int64_t getCount(ModuleOp module, StringRef name) {
  auto count = module->getAttrOfType<IntegerAttr>(name);
  return count ? count.getInt() : 1;
}

/// Counts the devices of a program that XLA partitioned and that was converted back. The program does not say
/// their number, but how its arguments are split over them, or which of them communicate.
static int64_t countDevices(func::FuncOp step) {
  int64_t devices = 1;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (auto text = step.getArgAttrOfType<StringAttr>(i, mhlo::kShardingAttrName))
      if (std::optional<HloSharding> sharding = HloSharding::parse(text))
        devices = std::max(devices, sharding->devices);
  step.walk([&](Operation *op) {
    for (StringRef name : {"replica_groups", "source_target_pairs"})
      if (auto groups = dyn_cast_or_null<DenseIntElementsAttr>(op->getAttr(name)))
        for (const APInt &device : groups.getValues<APInt>())
          devices = std::max(devices, device.getSExtValue() + 1);
  });
  return devices;
}

/// Returns how the arguments and results of a program that XLA partitioned are split over all of its devices.
static SmallVector<HloSharding> findSplits(func::FuncOp step, int64_t devices) {
  SmallVector<HloSharding> splits;
  auto add = [&](Attribute attribute) {
    auto text = dyn_cast_or_null<StringAttr>(attribute);
    for (StringRef part : text ? HloSharding::splitTuple(text) : SmallVector<StringRef>())
      if (std::optional<HloSharding> sharding = HloSharding::parse(part);
          sharding && sharding->devices == devices)
        splits.push_back(*sharding);
  };
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    add(step.getArgAttr(i, mhlo::kShardingAttrName));
  add(step->getParentOfType<ModuleOp>()->getAttr("mhlo.spmd_output_sharding"));
  return splits;
}

/// Returns the mesh of a program that is per-rank already: the grid or the mesh that the
/// module declares, when there is one of the right size; else the axes along which arguments are split.
static FailureOr<MeshAttr> getDeclaredMesh(ModuleOp module, func::FuncOp step) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto add = [&](const Twine &name, int64_t size) {
    names.push_back(StringAttr::get(module.getContext(), name));
    sizes.push_back(size);
  };
  auto make = [&]() -> FailureOr<MeshAttr> {
    auto mesh = MeshAttr::getChecked([&] { return module.emitError(); }, module.getContext(), ArrayRef(names),
                                     ArrayRef(sizes));
    if (!mesh)
      return failure();
    return mesh;
  };
  auto grids = module.getOps<shard::GridOp>();
  if (!grids.empty()) {
    shard::GridOp grid = *grids.begin();
    for (auto [i, size] : llvm::enumerate(grid.getShape())) {
      if (ShapedType::isDynamic(size))
        return grid.emitError() << "expected a grid with a static shape";
      add("axis" + Twine(i), size);
    }
    return make();
  }
  for (StringRef name : {"mhlo.num_replicas", "mhlo.num_partitions"})
    if (int64_t count = getCount(module, name); count < 1)
      return module.emitError() << "expected " << name << " of at least 1, got " << count;
  int64_t replicas = getCount(module, "mhlo.num_replicas");
  bool saysCount = module->hasAttr("mhlo.num_replicas") || module->hasAttr("mhlo.num_partitions");
  int64_t partitions = saysCount ? getCount(module, "mhlo.num_partitions") : countDevices(step);
  auto meshes = module.getOps<sdy::MeshOp>();
  bool hasOneMesh = llvm::hasSingleElement(meshes);
  SmallVector<HloSharding> splits = findSplits(step, partitions);
  if (hasOneMesh && replicas == 1 && (*meshes.begin()).getMesh().getDeviceCount() == partitions &&
      (*meshes.begin()).getMesh().getDeviceIds().empty()) {
    for (sdy::MeshAxisAttr axis : (*meshes.begin()).getMesh().getAxes())
      add(axis.getName(), axis.getSize());
    FailureOr<MeshAttr> declared = make();
    if (failed(declared) || llvm::all_of(splits, [&](const HloSharding &split) {
          return split.overMesh(*declared, static_cast<int64_t>(split.dimensions.size()));
        }))
      return declared;
    names.clear();
    sizes.clear();
  }
  if (replicas == 1) {
    std::optional<SmallVector<int64_t>> axes = HloSharding::findAxes(splits, partitions);
    if (!axes)
      return step.emitError() << "expected arguments that are split along the axes of one mesh of "
                              << partitions
                              << " devices, got shardings of which some cross: export the step "
                                 "with cgx_jax.export_step";
    for (auto [i, size] : llvm::enumerate(axes->size() > 1 ? *axes : SmallVector<int64_t>()))
      add("axis" + Twine(i), size);
    if (!names.empty())
      return make();
  }
  if (replicas > 1)
    add("replica", replicas);
  if (partitions > 1)
    add("partition", partitions);
  return make();
}

namespace {
struct ImportManualComputationPass : cgx::impl::ImportManualComputationPassBase<ImportManualComputationPass> {
  void runOnOperation() final {
    if (failed(importStep()))
      signalPassFailure();
  }

  LogicalResult importStep() {
    ModuleOp module = getOperation();
    func::FuncOp step = findStep(module);
    if (!step)
      return failure();
    // The verifier takes any op that it does not know for the end of a block.
    if (Operation &last = step.getBody().back().back(); !isa<func::ReturnOp>(last))
      return last.emitError() << "expected func.return at the end of the step, got " << last.getName();
    if (step.getName() != "main") {
      if (failed(SymbolTable(module).rename(step, "main")))
        return failure();
    }
    if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName)) {
      // The program was written by hand, or imported before. Nothing is known of an argument without a
      // sharding: calling it replicated would let its reductions be folded away.
      SmallVector<Distribution> arguments(step.getNumArguments()), results(step.getNumResults());
      setPerRankForm(step, mesh, arguments, results);
      return success();
    }
    if (failed(refuseGspmd(module)))
      return failure();
    bool isManual =
        module.walk([](sdy::ManualComputationOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (isManual)
      return inlineManualComputations(step);

    FailureOr<MeshAttr> mesh = getDeclaredMesh(module, step);
    if (failed(mesh))
      return failure();
    bool isAlone = !module
                        .walk([](Operation *op) {
                          return communicates(op) ? WalkResult::interrupt() : WalkResult::advance();
                        })
                        .wasInterrupted();
    if (mesh->getNumRanks() > 1 && isAlone)
      if (Operation *input = findPartitionerInput(module))
        return input->emitError()
               << "the step has no collective: its communication is left to a partitioner; export it "
                  "with cgx_jax.export_step, which has it partitioned, or write it with jax.shard_map";
    if (mesh->getNumRanks() > 1 && !isAlone)
      setPerReplicaForm(step, *mesh, /*isStacked=*/getCount(module, "mhlo.num_replicas") > 1);
    else
      setReplicatedForm(step, *mesh);
    return success();
  }

  static void setReplicatedForm(func::FuncOp step, MeshAttr mesh) {
    auto replicate = [](Type type) { return Distribution::replicated(type); };
    setPerRankForm(step, mesh, llvm::map_to_vector(step.getArgumentTypes(), replicate),
                   llvm::map_to_vector(step.getResultTypes(), replicate));
  }
};
} // namespace
