//===-- ReplicaGroups.cpp - the ranks that StableHLO's groups stand for -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplicaGroups.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace cgx;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Returns the rows of a matrix without its padding.
static FailureOr<RankRows> getRows(DenseIntElementsAttr matrix, int64_t idCount, EmitError emitError) {
  ShapedType type = matrix.getType();
  if (type.getRank() != 2)
    return emitError() << "expected a matrix of groups, got " << type;
  RankRows rows;
  if (type.getDimSize(0) == 0 || type.getDimSize(1) == 0) {
    rows.push_back(llvm::to_vector(llvm::seq<int64_t>(idCount)));
    return rows;
  }
  int64_t column = 0;
  for (const APInt &value : matrix.getValues<APInt>()) {
    if (column == 0)
      rows.emplace_back();
    column = (column + 1) % type.getDimSize(1);
    int64_t id = value.getSExtValue();
    if (id == -1)
      continue;
    if (id < 0 || id >= idCount)
      return emitError() << "expected ids below " << idCount << ", got " << id
                         << "; mhlo.num_replicas and mhlo.num_partitions say how many processes there are";
    rows.back().push_back(id);
  }
  llvm::erase_if(rows, [](const auto &row) { return row.empty(); });
  return rows;
}

static int64_t getIdCount(GroupMode mode, const ProcessGrid &grid) {
  switch (mode) {
  case GroupMode::CrossReplica:
  case GroupMode::CrossReplicaAndPartition:
    return grid.replicas;
  case GroupMode::CrossPartition:
    return grid.partitions;
  case GroupMode::FlattenedIds:
    return grid.getProcessCount();
  }
  llvm_unreachable("all modes are handled");
}

FailureOr<RankRows> cgx::getRankGroups(DenseIntElementsAttr matrix, GroupMode mode, const ProcessGrid &grid,
                                       EmitError emitError) {
  FailureOr<RankRows> rows = getRows(matrix, getIdCount(mode, grid), emitError);
  if (failed(rows) || mode == GroupMode::FlattenedIds)
    return rows;
  auto rankOf = [&](int64_t replica, int64_t partition) { return replica * grid.partitions + partition; };
  RankRows groups;
  for (ArrayRef<int64_t> row : *rows) {
    if (mode == GroupMode::CrossReplicaAndPartition) {
      // Positions in the group run over partitions first, then replicas.
      auto &group = groups.emplace_back();
      for (int64_t partition = 0; partition < grid.partitions; ++partition)
        for (int64_t replica : row)
          group.push_back(rankOf(replica, partition));
      continue;
    }
    bool isReplica = mode == GroupMode::CrossReplica;
    for (int64_t other = 0; other < (isReplica ? grid.partitions : grid.replicas); ++other) {
      auto &group = groups.emplace_back();
      for (int64_t id : row)
        group.push_back(isReplica ? rankOf(id, other) : rankOf(other, id));
    }
  }
  return groups;
}

FailureOr<RankRows> cgx::getRankPairs(DenseIntElementsAttr matrix, GroupMode mode, const ProcessGrid &grid,
                                      EmitError emitError) {
  if (matrix.empty())
    return RankRows();
  FailureOr<RankRows> pairs = getRankGroups(matrix, mode, grid, emitError);
  if (succeeded(pairs))
    for (ArrayRef<int64_t> pair : *pairs)
      if (pair.size() != 2)
        return emitError() << "expected pairs of a source and a target, got " << pair.size() << " ids in one";
  return pairs;
}

//===----------------------------------------------------------------------===//
// Groups by axes
//===----------------------------------------------------------------------===//

namespace {
/// Computes the position in a part of an axis from a device number: the part's digit is `number / stride %
/// size`.
struct Digit {
  int64_t stride;
  int64_t size;

  int64_t of(int64_t device) const { return device / stride % size; }
};
} // namespace

static FailureOr<Digit> getDigit(ArrayRef<std::pair<StringRef, int64_t>> mesh, const MeshAxisPart &part,
                                 EmitError emitError) {
  int64_t stride = 1;
  for (auto [name, size] : llvm::reverse(mesh)) {
    if (name != part.name) {
      stride *= size;
      continue;
    }
    if (part.size == 0)
      return Digit{stride, size};
    if (part.preSize < 1 || part.size < 1 || size % part.preSize != 0 || size / part.preSize % part.size != 0)
      return emitError() << "sub-axis (" << part.preSize << ")" << part.size << " of \"" << name
                         << "\" does not divide its size " << size;
    return Digit{stride * (size / (part.preSize * part.size)), part.size};
  }
  return emitError() << "axis \"" << part.name << "\" is not in the mesh";
}

FailureOr<RankRows> cgx::getRankGroupsOverAxes(ArrayRef<std::pair<StringRef, int64_t>> mesh,
                                               ArrayRef<int64_t> deviceIds, ArrayRef<MeshAxisPart> parts,
                                               EmitError emitError) {
  constexpr int64_t kMostDevices = 1 << 20;
  int64_t deviceCount = 1;
  for (auto [name, size] : mesh) {
    if (size < 1 || size > kMostDevices / deviceCount)
      return emitError() << "expected a mesh of at most " << kMostDevices << " devices, got " << size
                         << " along axis \"" << name << "\"" << (deviceCount > 1 ? " beside other axes" : "");
    deviceCount *= size;
  }
  if (!deviceIds.empty() && static_cast<int64_t>(deviceIds.size()) != deviceCount)
    return emitError() << "expected " << deviceCount << " device ids, got " << deviceIds.size();
  SmallVector<Digit> digits;
  int64_t groupSize = 1;
  for (const MeshAxisPart &part : parts) {
    FailureOr<Digit> digit = getDigit(mesh, part, emitError);
    if (failed(digit))
      return failure();
    digits.push_back(*digit);
    groupSize *= digit->size;
  }
  // The devices of a group have the same number once the digits are taken out.
  llvm::MapVector<int64_t, SmallVector<int64_t>> groups;
  for (int64_t device = 0; device < deviceCount; ++device) {
    int64_t rest = device;
    int64_t position = 0;
    for (const Digit &digit : digits) {
      rest -= digit.of(device) * digit.stride;
      position = position * digit.size + digit.of(device);
    }
    auto &group = groups[rest];
    group.resize(groupSize);
    group[position] = deviceIds.empty() ? device : deviceIds[device];
  }
  RankRows rows;
  for (auto &[rest, group] : groups)
    rows.push_back(std::move(group));
  return rows;
}
