//===-- ReplicaGroups.h - the ranks that StableHLO's groups stand for -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_REPLICAGROUPS_H
#define CGX_PASSES_IMPORT_REPLICAGROUPS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace cgx {

/// Ranks, one row per group; rows may have different lengths.
using RankRows = llvm::SmallVector<llvm::SmallVector<int64_t>>;

/// The processes of a StableHLO program. A process is a pair of a replica and a
/// partition; its rank is its flattened id, `replica * partitions + partition`.
struct ProcessGrid {
  int64_t replicas;
  int64_t partitions;

  int64_t getProcessCount() const { return replicas * partitions; }
};

/// The meaning of the numbers in groups, by StableHLO's specification.
enum class GroupMode {
  CrossReplica,             // Replicas; one process group for each partition.
  CrossPartition,           // Partitions; one process group for each replica.
  CrossReplicaAndPartition, // Replicas; with all of their partitions together.
  FlattenedIds,             // Processes.
};

/// Returns the ranks of `rows`, a matrix of ids padded with -1, under `mode`. No rows:
/// all ids in one group. Fails for ids that do not exist.
mlir::FailureOr<RankRows> getRankGroups(mlir::DenseIntElementsAttr rows, GroupMode mode,
                                        const ProcessGrid &grid,
                                        llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns the ranks as above for the rows (source, target) of a permutation: pairs of ranks. The mode is
/// CrossReplica or CrossPartition.
mlir::FailureOr<RankRows> getRankPairs(mlir::DenseIntElementsAttr rows, GroupMode mode,
                                       const ProcessGrid &grid,
                                       llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// A mesh axis, or the part of it of size `size` under `preSize` positions.
struct MeshAxisPart {
  llvm::StringRef name;
  int64_t preSize = 1;
  int64_t size = 0; // 0: the whole axis.
};

/// Returns the groups of a collective over some axes of a mesh: one group for each
/// position on the rest of the mesh, positions in a group counted with the first
/// of `parts` major. For x of the mesh x=2, y=2: [[0, 2], [1, 3]]. `deviceIds`
/// renumbers the devices of the mesh, unless empty.
mlir::FailureOr<RankRows> getRankGroupsOverAxes(llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> mesh,
                                                llvm::ArrayRef<int64_t> deviceIds,
                                                llvm::ArrayRef<MeshAxisPart> parts,
                                                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_REPLICAGROUPS_H
