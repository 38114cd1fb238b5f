//===-- RoundNeeds.h - The values that a step needs in each round -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_ROUNDNEEDS_H
#define CGX_PASSES_REWRITE_ROUNDNEEDS_H

#include "RoundFacts.h"

namespace cgx {

/// A run of a permute: bits of its pairs.
struct PermuteRun {
  llvm::BitVector sendsZeros;      ///< which is what a rank gets that is no target
  llvm::BitVector isUnused;        ///< nothing that the step returns depends on what arrives
  llvm::BitVector beginsWithZeros; ///< in the first round the target has zeros in place of what arrives
};

/// Finds the values that the results of a step need, and on which ranks, going back through all rounds of its
/// loops from the last to the first. Any other value may change without changing the results.
///
/// A value is needed by an op whose result is, but
/// - a choice needs what is known to be chosen,
/// - a product that is zero because of one factor needs that factor,
/// - a slice of rows needs these rows, and rows that are written over are not needed,
/// - what a permute sends is needed by the rank that gets it, unless it is zero: that can be known there.
class RoundNeeds {
public:
  /// Asks for the runs of `permutes`. All loops around them count.
  RoundNeeds(RoundFacts &facts, llvm::ArrayRef<PermuteOp> permutes)
      : facts(facts), ranks(facts.getNumRanks()) {
    for (PermuteOp op : permutes)
      runs[op];
  }

  /// Runs the analysis on a step whose facts are known.
  void run(Frame &frame);

  /// Returns the runs of a permute in a step, in their order.
  llvm::ArrayRef<PermuteRun> getRuns(PermuteOp op) const { return runs.find(op)->second; }

private:
  void visitBlock(Frame &frame);
  void visit(mlir::Operation *op, Frame &frame);
  void visitLoop(stablehlo::WhileOp loop, Frame &frame);
  bool visitBranches(mlir::Operation *op, Frame &frame);
  void visitPermute(PermuteOp op, Frame &frame);
  void visitProduct(mlir::Operation *op, const RowRanks &needed, Frame &frame);
  void visitSelect(stablehlo::SelectOp select, const RowRanks &needed, Frame &frame);
  void visitUpdate(const RowUpdate &update, const RowRanks &needed, Frame &frame);
  bool visitSlice(stablehlo::DynamicSliceOp slice, const RowRanks &needed, Frame &frame);
  llvm::BitVector findBeginnings(PermuteOp op, Frame &frame) const;

  RowRanks needOf(mlir::Value value, Frame &frame) const {
    auto found = frame.needs.find(value);
    return found == frame.needs.end() ? RowRanks() : found->second;
  }
  void need(mlir::Value value, const RowRanks &on, Frame &frame);
  /// Marks all that an op takes, and all that its regions take from around it, as needed on all ranks.
  void needAll(mlir::Operation *op, Frame &frame);

  RoundFacts &facts;
  unsigned ranks;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<PermuteRun>>
      runs; ///< until all are there, the last first
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_ROUNDNEEDS_H
