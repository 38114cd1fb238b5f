//===-- RoundFacts.h - Facts about values in each round of loops -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_ROUNDFACTS_H
#define CGX_PASSES_REWRITE_ROUNDFACTS_H

#include "RowRanks.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/RankValues.h"

namespace cgx {

/// The facts about a value in one round of the loops around it.
struct Fact {
  std::shared_ptr<const RankValues::Integers> integers; ///< null: not known
  RowRanks zero;                                        ///< where elements are zeros, whatever the data
};

/// One run of a block: of the step, or of the body of a loop in one round.
struct Frame {
  explicit Frame(mlir::Block &block, Frame *outer = nullptr) : block(block), outer(outer) {}

  /// Returns the frame that a value belongs to: this one or one around it.
  Frame &of(mlir::Value value) {
    Frame *frame = this;
    while (frame->outer && &frame->block != value.getParentBlock())
      frame = frame->outer;
    return *frame;
  }
  /// Returns the fact about a value; null where nothing is known.
  const Fact *factOf(mlir::Value value) {
    Frame &frame = of(value);
    auto found = frame.facts.find(value);
    return found == frame.facts.end() ? nullptr : &found->second;
  }

  mlir::Block &block;
  Frame *outer;
  llvm::DenseMap<mlir::Value, Fact> facts;
  /// The facts about a loop's arguments at the beginning of each round, for loops of the block whose length
  /// the step does not compute from data.
  llvm::DenseMap<mlir::Operation *, std::vector<llvm::SmallVector<Fact>>> rounds;
  /// The ranks on which a value is needed (RoundNeeds).
  llvm::DenseMap<mlir::Value, RowRanks> needs;
};

/// Rows that an op writes into a tensor whose other rows stay: in a round, the rows of that round.
struct RowUpdate {
  mlir::Value base, update;
  llvm::SmallVector<int64_t> first; ///< row on each rank; below zero: none is written
  int64_t count = 1;                ///< of rows
};

/// Runs a step on the numbers of its ranks alone: it tracks counters of loops, comparisons with them and with
/// the rank, and values that are zero because of those, on every rank and in every round.
class RoundFacts {
public:
  /// Gives up after `mostVisits` visits of ops.
  RoundFacts(mlir::ModuleOp module, uint64_t mostVisits)
      : values(module), ranks(values.getNumRanks()), left(mostVisits) {}

  /// Fills in the facts of a block, given those of its arguments.
  void run(Frame &frame);
  bool gaveUp() const { return left == 0; }

  unsigned getNumRanks() const { return ranks; }
  RowRanks zeroOf(mlir::Value value, Frame &frame) const;
  /// Returns on which ranks all rows are zeros.
  llvm::BitVector whollyZero(mlir::Value value, Frame &frame) const {
    return zeroOf(value, frame).ofAll(ranks);
  }
  /// Returns the ranks that are known to choose the first of two, and the second: of `predicate`, or of one
  /// that is repeated for all elements.
  std::pair<llvm::BitVector, llvm::BitVector> choicesOf(mlir::Value predicate, Frame &frame) const;
  /// Returns the ranks that take each region of an `if` or a `case`; nothing where that is not known.
  std::optional<llvm::SmallVector<llvm::BitVector>> branchesOf(mlir::Operation *op, Frame &frame) const;
  std::optional<RowUpdate> rowUpdateOf(mlir::Operation *op, Frame &frame) const;
  /// Returns the first row of a slice on each rank.
  std::optional<llvm::SmallVector<int64_t>> firstRowOf(stablehlo::DynamicSliceOp slice, Frame &frame) const;

private:
  void visit(mlir::Operation &op, Frame &frame);
  void runLoop(stablehlo::WhileOp loop, Frame &frame);
  void runBranches(mlir::Operation *op, Frame &frame);
  Fact factOfResult(mlir::OpResult result, Frame &frame);
  RowRanks zeroOfResult(mlir::OpResult result, Frame &frame) const;
  RowRanks zeroOfUpdate(const RowUpdate &update, Frame &frame) const;
  std::optional<llvm::SmallVector<int64_t>> scalarOf(mlir::Value value, Frame &frame) const;

  RankValues values;
  unsigned ranks;
  uint64_t left; ///< visits
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_ROUNDFACTS_H
