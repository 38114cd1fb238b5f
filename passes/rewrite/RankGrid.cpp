//===-- RankGrid.cpp - Groups of ranks and the axes of the mesh -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankGrid.h"

#include "cgx/Passes/LayerTable.h"

using namespace mlir;
using namespace cgx;

/// Returns the mesh of the module; its ranks as one axis if it has none.
static MeshAttr getMesh(ModuleOp module) {
  if (auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName))
    return mesh;
  auto numRanks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
  return MeshAttr::get(module.getContext(), StringAttr::get(module.getContext(), "rank"),
                       numRanks ? numRanks.getInt() : 1);
}

/// Returns the mesh in a form that needs no attributes.
static layers::Mesh toMesh(MeshAttr attribute) {
  layers::Mesh mesh;
  mesh.sizes.assign(attribute.getSizes().begin(), attribute.getSizes().end());
  for (StringAttr axis : attribute.getAxes())
    mesh.axes.push_back(axis.str());
  return mesh;
}

RankGrid::RankGrid(ModuleOp module) : mesh(::getMesh(module)), axes(toMesh(mesh), mesh.getNumRanks()) {}

AxisSet RankGrid::getVaryingAxes(GroupsAttr groups) {
  auto [entry, isNew] = varyingAxes.try_emplace(groups, 0);
  if (isNew)
    entry->second = axes.varying(toLayerGroups(groups));
  return entry->second;
}

bool RankGrid::holdsAlong(unsigned axis, llvm::function_ref<bool(int64_t, int64_t)> holds) const {
  int64_t stride = axes.getStrides()[axis], size = mesh.getSizes()[axis];
  for (int64_t rank = 0, e = getNumRanks(); rank < e; ++rank)
    if (rank / stride % size + 1 < size && !holds(rank, rank + stride))
      return false;
  return true;
}

AxisSet RankGrid::getAxesOfEqual(llvm::function_ref<bool(int64_t, int64_t)> areEqual) const {
  AxisSet found = 0;
  for (unsigned axis = 0; axis < axes.getStrides().size(); ++axis)
    if (axes.all() & AxisSet(1) << axis && holdsAlong(axis, areEqual))
      found |= AxisSet(1) << axis;
  return found;
}

AxisSet RankGrid::getResultAxes(GroupsAttr groups, AxisSet operandAxes, bool givesEqualResults) {
  auto [entry, isNew] = resultAxes.try_emplace({groups, operandAxes, unsigned(givesEqualResults)}, 0);
  if (!isNew)
    return entry->second;
  // Each rank has a row and a position in it; a rank in no row is a group of its own.
  SmallVector<std::pair<int64_t, int64_t>> places(getNumRanks(), {-1, 0});
  for (auto [row, ranks] : llvm::enumerate(groups.getRows()))
    for (auto [position, rank] : llvm::enumerate(ranks.asArrayRef()))
      if (rank < getNumRanks())
        places[rank] = {row, position};
  auto getRow = [&](int64_t rank) {
    return places[rank].first < 0 ? SmallVector<int64_t>{rank}
                                  : SmallVector<int64_t>(groups.getRows()[places[rank].first].asArrayRef());
  };
  entry->second = getAxesOfEqual([&](int64_t rank, int64_t other) {
    auto [row, position] = places[rank];
    auto [otherRow, otherPosition] = places[other];
    if (row >= 0 && row == otherRow)
      return givesEqualResults;
    if (!givesEqualResults && position != otherPosition)
      return false;
    // Equal operands give equal results. Their order in the group counts: it is the order of the additions,
    // which determines the last bits of a sum.
    SmallVector<int64_t> ranks = getRow(rank), others = getRow(other);
    return ranks.size() == others.size() && llvm::all_of(llvm::zip_equal(ranks, others), [&](auto pair) {
             return (getDifference(std::get<0>(pair), std::get<1>(pair)) & ~operandAxes) == 0;
           });
  });
  return entry->second;
}
