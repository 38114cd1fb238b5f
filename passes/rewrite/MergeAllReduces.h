//===-- MergeAllReduces.h - One exchange for many operands ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dependence of collectives follows from their round, which is the number of all-reduces on the longest path
// that leads to them. Collectives of one round are independent of each other, and a block whose ops are
// ordered by round is still in topological order. One scan finds the rounds of a block.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_MERGEALLREDUCES_H
#define CGX_PASSES_REWRITE_MERGEALLREDUCES_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "llvm/ADT/DenseMap.h"

namespace cgx {

/// The rounds of the ops of a block.
class Rounds {
public:
  explicit Rounds(mlir::Block &block);

  unsigned of(mlir::Operation *op) const { return rounds.lookup(op); }

private:
  unsigned roundOfOperands(mlir::Operation &op) const;

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, unsigned> rounds;
};

/// The properties that all-reduces share if they may become one: round, reduction, algorithm and groups.
using MergeKey = std::tuple<unsigned, Reduction, Algorithm, mlir::Attribute, mlir::Attribute>;
MergeKey getMergeKey(AllReduceOp op, const Rounds &rounds);

/// All-reduces that may become one: `ops`, `bytes` of their operands.
struct Batch {
  llvm::SmallVector<AllReduceOp> ops;
  uint64_t bytes = 0;
};

/// Returns the uncompressed bytes of the operands.
uint64_t getOperandBytes(AllReduceOp op);

/// Replaces all-reduces by one, at the place of the last, after which all users stand. It has the smallest
/// id, and records the origin of each operand (`origins`), so that merging changes no random number.
AllReduceOp merge(llvm::ArrayRef<AllReduceOp> ops);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_MERGEALLREDUCES_H
