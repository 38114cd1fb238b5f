//===-- FeedsByFlow.h - feeds as the arithmetic of a step shows them --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_FEEDSBYFLOW_H
#define CGX_PASSES_IMPORT_FEEDSBYFLOW_H

#include "StateFeeds.h"
#include "StateUpdates.h"
#include "StepDataFlow.h"

namespace cgx {

/// Matches results to the arguments that they are the next values of, by data flow.
///
/// An *anchor* is a pair that arithmetic alone shows: both have one type and sharding, the result is an
/// update of the argument (`StateUpdates`), and no other result and no other argument can take the place of
/// either. A batch from which a prediction is subtracted is no state: values that are split over ranks, and
/// single floating-point numbers, which are losses and rates more often than state, count only where the
/// result also keeps elements of a reduction.
///
/// Runs grow from anchors: frameworks return a state in the order in which they take it, so that a neighbour
/// of a pair is a pair again, where its types agree and nothing contradicts. A result before all pairs, in
/// its argument's place, is state that no reduction updates.
class FlowMatcher {
public:
  FlowMatcher(mlir::func::FuncOp step, const StateUpdates &updates, llvm::ArrayRef<StepValue> arguments,
              llvm::ArrayRef<StepValue> results)
      : step(step), updates(updates), arguments(arguments), results(results) {}

  /// Returns whether a result may be the argument's next value, judging by this pair alone.
  bool isCandidate(unsigned result, unsigned argument) const;
  /// Returns, in order, the arguments that a result may be the next value of, judging by arithmetic alone.
  llvm::SmallVector<unsigned> getUpdatedArguments(unsigned result) const {
    return updates.getUpdatedArguments(result);
  }

  /// Returns whether a pair that something else suggests may be one. A donated learning rate gets the buffer
  /// of a loss, for example, but does not become one.
  bool isCredible(unsigned result, unsigned argument) const;

  /// Adds pairs of which there is one reading.
  void addAnchors(Feeds &feeds) const;
  /// Adds neighbours of pairs.
  void growRuns(Feeds &feeds);
  /// Returns the results that are updates of arguments that nothing feeds.
  llvm::SmallVector<Doubt> findDoubts(const Feeds &feeds) const;

private:
  using Pair = std::pair<unsigned, unsigned>;

  bool fits(unsigned result, unsigned argument) const;
  bool addUnambiguous(Feeds &feeds) const;
  bool addAliased(Feeds &feeds) const;
  bool addDuplicates(Feeds &feeds) const;
  void addInOrder(Feeds &feeds) const;
  bool grow(Feeds &feeds);
  static std::pair<std::optional<Pair>, std::optional<Pair>> findPairsAround(unsigned result,
                                                                             const Feeds &feeds);
  bool isNeighbour(unsigned result, unsigned argument, bool isBetween, const Feeds &feeds);
  bool isComputedFrom(unsigned result, const llvm::BitVector &state);
  bool isCopyOfState(unsigned result, unsigned argument, const Feeds &feeds) const;
  bool isLeading(unsigned result, std::optional<Pair> before, std::optional<Pair> after) const;
  bool areOfOneTree(unsigned result, unsigned other) const;
  std::optional<unsigned> findArgumentInPlace(unsigned result, const Feeds &feeds) const;
  bool mayBeUnreduced(unsigned result, unsigned argument) const;
  const StepDataFlow &getFlow();
  mlir::Value getResult(unsigned result);

  mlir::func::FuncOp step;
  const StateUpdates &updates;
  llvm::ArrayRef<StepValue> arguments;
  llvm::ArrayRef<StepValue> results;
  std::optional<StepDataFlow> flow;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_FEEDSBYFLOW_H
