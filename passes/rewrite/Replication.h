//===-- Replication.h - Which values are equal on which ranks ---*- C++ -*-===//
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

/// For each value of a per-rank program, the axes of the mesh along which it is replicated:
/// ranks that differ only along those axes hold the same bits.
///
/// A forward data flow analysis, as optimistic as it can be: what a loop carries is replicated
/// unless something that is not comes in. What leaves a branch or a loop depends on the condition,
/// too. Inside of a branch, ranks are compared that take it; inside of a loop, ranks in the same
/// iteration.
///
/// Results of collectives are equal whatever their codec is, which the runtime promises: a rank's own part is
/// decoded like the others', and random numbers are keyed by the position in the group.
class Replication {
public:
  /// What is taken for equal of the step's arguments.
  enum class Believed {
    /// None. A rewriting may rest on no more: under `shard_map(check_vma=False)` devices may begin with
    /// different values of what is declared replicated, and the user's own mean is what brings them
    /// together.
    Nothing,
    /// Those whose `cgx.sharding` says so. For warnings, which are untrue where the declaration is.
    Declared,
    /// Of those whose `cgx.sharding` says so the ones of which the step, as long as all of them are equal,
    /// gives all ranks the same next value. What is given anew each time is not among them.
    KeptAlike,
    /// Also, where nothing is declared, what programs written by hand hold alike: single integers (counters,
    /// numbers of rounds) and state, as long as the step gives all ranks the same next value of it.
    HeldAlike
  };

  Replication(mlir::ModuleOp module, Believed believed);

  /// The axes along which `value` is replicated; none for a value that was made after the analysis.
  AxisSet getAxes(mlir::Value value) const;

  /// `value` is equal on the ranks of each of `groups`.
  bool isReplicatedOver(mlir::Value value, GroupsAttr groups);

  RankGrid &getGrid() { return grid; }

  /// The nearest value from which `value` has that it is not replicated along all of `axes`: an argument,
  /// the result of a collective, of an op with effects, or of one that tells the number of the rank.
  mlir::Value findSource(mlir::Value value, AxisSet axes) const;

  /// All values from which `value` has that it is not replicated along all of `axes`, itself among them: what
  /// it is computed from, as far as that is not replicated either.
  llvm::SetVector<mlir::Value> getCauses(mlir::Value value, AxisSet axes) const;

  /// The nearest collective from whose result `value` is computed; null if there is none.
  static CollectiveOpInterface findCollective(mlir::Value value);

private:
  void run(mlir::ModuleOp module);
  void disbelieveWhatIsNotKept(mlir::ModuleOp module);

  RankGrid grid;
  bool trustsShardings;
  /// Arguments that are not taken for what is declared of them.
  llvm::DenseSet<mlir::Value> disbelieved;
  std::unique_ptr<mlir::DataFlowSolver> solver;
  /// Arguments that are taken for equal though nothing is said of them.
  llvm::DenseSet<mlir::Value> unsaid;
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_REPLICATION_H
