//===-- Replication.cpp - Which values are equal on which ranks -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replication.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cgx;

/// The mesh of the module; its ranks as one axis if it has none.
static MeshAttr getMesh(ModuleOp module) {
  if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName))
    return mesh;
  auto numRanks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
  return MeshAttr::get(module.getContext(), StringAttr::get(module.getContext(), "rank"),
                       numRanks ? numRanks.getInt() : 1);
}

Replication::Replication(ModuleOp module) : mesh(getMesh(module)) {
  if (mesh.getAxes().size() > 64) {
    mesh = {};
    return;
  }
  for (auto [axis, size] : llvm::enumerate(mesh.getSizes()))
    if (size > 1)
      allAxes |= AxisSet(1) << axis;
}

bool Replication::isReplicatedOver(Value value, GroupsAttr groups) {
  std::optional<AxisSet> axes = getAxes(groups);
  return axes && (*axes & ~getAxes(value)) == 0;
}

//===----------------------------------------------------------------------===//
// Groups as axes
//===----------------------------------------------------------------------===//

/// The rows of `groups` in ascending order of their first ranks.
static SmallVector<DenseI64ArrayAttr> getSortedRows(GroupsAttr groups) {
  SmallVector<DenseI64ArrayAttr> rows(groups.getRows());
  llvm::sort(rows, [](DenseI64ArrayAttr a, DenseI64ArrayAttr b) { return a[0] < b[0]; });
  return rows;
}

/// The axes along which the coordinates of `ranks` differ.
static AxisSet getVaryingAxes(MeshAttr mesh, ArrayRef<int64_t> ranks) {
  AxisSet varying = 0;
  int64_t stride = 1;
  for (unsigned axis = mesh.getAxes().size(); axis-- > 0;) {
    int64_t size = mesh.getSizes()[axis];
    for (int64_t rank : ranks)
      if (rank / stride % size != ranks[0] / stride % size)
        varying |= AxisSet(1) << axis;
    stride *= size;
  }
  return varying;
}

std::optional<AxisSet> Replication::getAxes(GroupsAttr groups) {
  if (!mesh)
    return std::nullopt;
  auto [entry, isNew] = axesOfGroups.try_emplace(groups);
  if (!isNew)
    return entry->second;
  if (groups.isTrivial())
    return entry->second = 0;
  AxisSet axes = getVaryingAxes(mesh, groups.getRows()[0]);
  SmallVector<StringRef> names;
  for (auto [axis, name] : llvm::enumerate(mesh.getAxes()))
    if (axes & AxisSet(1) << axis)
      names.push_back(name);
  // The order of ranks in a group counts: it is the order of the additions, which decides about
  // the last bits of their sum.
  if (getSortedRows(groups) == getSortedRows(mesh.getGroupsOver(names)))
    entry->second = axes;
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Replication::visit(Operation *op) {
  if (isa<FunctionOpInterface>(op))
    visitArguments(op);
  if (op->getNumResults() == 0 || isa<WaitOp>(op)) // its results were those of the start
    return;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    // One visit for all operands would mix what is known of each.
    std::optional<AxisSet> axes = getAxes(collective.getGroups());
    bool givesEqualResults =
        isa<AllReduceOp, AllGatherOp, BroadcastOp, AllReduceStartOp, AllGatherStartOp, BroadcastStartOp>(op);
    bool keepsPositions =
        givesEqualResults || isa<ReduceScatterOp, AllToAllOp, ReduceScatterStartOp, AllToAllStartOp>(op);
    for (auto [number, input] : llvm::enumerate(collective.getInputs())) {
      AxisSet known = 0;
      // Along other axes the results are equal if the operands are and the same is computed from
      // them; the random numbers of a codec depend on the rank.
      if (axes && keepsPositions && collective.getCodec(number).isExact())
        known = getAxes(input) & ~*axes;
      if (axes && givesEqualResults)
        known |= *axes;
      axesOf[collective.getResultTensors()[number]] = known;
    }
    return;
  }
  AxisSet axes = getComputedAxes(op);
  for (Value result : op->getResults())
    axesOf[result] = axes;
}

/// Ops without effects whose result is another on each rank, or on each execution.
static bool dependsOnRank(Operation *op) {
  static constexpr StringLiteral names[] = {
      "stablehlo.partition_id", "stablehlo.replica_id",  "stablehlo.rng",
      "stablehlo.all_reduce",   "stablehlo.all_gather",  "stablehlo.reduce_scatter",
      "stablehlo.all_to_all",   "stablehlo.custom_call", "stablehlo.collective_permute",
      "stablehlo.infeed",       "stablehlo.recv",        "stablehlo.collective_broadcast",
  };
  return isa<CommunicationOpInterface>(op) || op->getName().getDialectNamespace() == "shard" ||
         llvm::is_contained(names, op->getName().getStringRef());
}

// A function of replicated values is replicated: all ranks run the same program on the same
// bits. Values that the regions of an op use from outside are its operands, too.
AxisSet Replication::getComputedAxes(Operation *op) {
  if (!isMemoryEffectFree(op) || dependsOnRank(op))
    return 0;
  AxisSet axes = allAxes;
  for (Value operand : op->getOperands())
    axes &= getAxes(operand);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      if (dependsOnRank(nested))
        axes = 0;
      for (Value operand : nested->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          axes &= getAxes(operand);
    });
  return axes;
}

void Replication::visitArguments(Operation *op) {
  auto function = cast<FunctionOpInterface>(op);
  if (!mesh || function.isExternal())
    return;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    auto sharding = function.getArgAttrOfType<ShardingAttr>(i, kShardingAttrName);
    if (!sharding)
      continue;
    AxisSet axes = allAxes;
    for (auto [axis, name] : llvm::enumerate(mesh.getAxes()))
      if (sharding.hasAxis(name))
        axes &= ~(AxisSet(1) << axis);
    axesOf[function.getArgument(i)] = axes;
  }
}
