//===-- Replication.h - The ranks on which values are equal ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REWRITE_REPLICATION_H
#define CGX_PASSES_REWRITE_REPLICATION_H

#include "RankGrid.h"
#include "cgx/Passes/RankValues.h"

#include "mlir/Analysis/DataFlowFramework.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <memory>

namespace cgx {

/// The axes of the mesh along which each value of a per-rank program is replicated: ranks that differ only
/// along those axes hold the same bits.
///
/// The analysis is a forward data flow, as optimistic as possible: a value that a loop carries is replicated
/// unless something that is not comes in. Results of a branch or a loop depend on the condition, too. Inside
/// of a branch, the ranks that take it are compared; inside of a loop, ranks in the same iteration.
///
/// Results of collectives are equal whatever their codec is, which the runtime promises: a rank's own part is
/// decoded like the others', and random numbers are keyed by the position in the group.
class Replication {
public:
  /// The set of arguments that are taken to be equal on all ranks.
  enum class Believed {
    /// No arguments. Rewritings may assume nothing else: under `shard_map(check_vma=False)` devices may begin
    /// with different values of arguments that are declared replicated, and the user's own mean makes them
    /// equal.
    Nothing,
    /// The arguments whose `cgx.sharding` says so. Only for warnings, which are wrong where the declaration
    /// is.
    Declared,
    /// The declared arguments that the step keeps equal: given that all of them are equal, it gives all ranks
    /// the same next value. Arguments that are given anew each time are not among them.
    KeptAlike,
    /// The arguments of KeptAlike, and, where nothing is declared, those that programs written by hand
    /// usually hold alike: single integers (counters, numbers of rounds), and state, as long as the step
    /// gives all ranks the same next value of it.
    HeldAlike
  };

  Replication(mlir::ModuleOp module, Believed believed);

  /// Returns the axes along which `value` is replicated; none for a value that was made after the analysis.
  AxisSet getAxes(mlir::Value value) const;

  /// Returns whether `value` is equal on the ranks of each of `groups`.
  bool isReplicatedOver(mlir::Value value, GroupsAttr groups);

  RankGrid &getGrid() { return grid; }

  /// Returns the nearest value from which `value` has that it is not replicated along all of `axes`: an
  /// argument, the result of a collective, of an op with effects, or of one that tells the number of the
  /// rank.
  mlir::Value findSource(mlir::Value value, AxisSet axes) const;

  /// Returns `value` and the values that it is computed from, as far as they are not replicated along all of
  /// `axes`.
  llvm::SetVector<mlir::Value> getCauses(mlir::Value value, AxisSet axes) const;

  /// Returns the nearest collective from whose result `value` is computed; null if there is none.
  static CollectiveOpInterface findCollective(mlir::Value value);

private:
  void run(mlir::ModuleOp module);
  void disbelieveWhatIsNotKept(mlir::ModuleOp module);

  RankGrid grid;
  bool trustsShardings;
  /// The arguments whose declaration is not believed.
  llvm::DenseSet<mlir::Value> disbelieved;
  std::unique_ptr<mlir::DataFlowSolver> solver;
  /// The arguments that are taken to be equal though nothing is declared of them.
  llvm::DenseSet<mlir::Value> unsaid;
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_REPLICATION_H
