//===-- RankValues.h - what each rank computes from its number --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_RANKVALUES_H
#define CGX_PASSES_RANKVALUES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <optional>
#include <vector>

namespace cgx {

/// Evaluates integers that depend on nothing but the number of the rank, for every rank: offsets of its
/// pieces, its positions along the axes of the mesh. A frontend spells them as products, remainders or
/// tables, with guards against indices below zero; to compute them is to recognize every spelling.
class RankValues {
public:
  /// The elements of a tensor in row-major order, on each rank.
  class Integers {
  public:
    explicit Integers(std::vector<llvm::APInt> uniform) : byRank{std::move(uniform)} {}
    explicit Integers(std::vector<std::vector<llvm::APInt>> byRank) : byRank(std::move(byRank)) {}

    /// All ranks have the same; the elements are stored once.
    bool isUniform() const { return byRank.size() == 1; }
    llvm::ArrayRef<llvm::APInt> of(int64_t rank) const { return byRank[isUniform() ? 0 : rank]; }

  private:
    std::vector<std::vector<llvm::APInt>> byRank;
  };

  explicit RankValues(mlir::ModuleOp module);

  int64_t getNumRanks() const { return numRanks; }

  /// Null where `value` is no small tensor of integers or depends on more than the number of the rank.
  /// What is found is kept: a value is evaluated once.
  const Integers *get(mlir::Value value);

  /// The result of an op of such operands, given them; null where it cannot be evaluated. Nothing is kept: in
  /// another round of a loop the operands may be others.
  std::optional<Integers> evaluate(mlir::Operation *op, llvm::ArrayRef<const Integers *> operands) const;

  /// A scalar as a number, on one rank; null for a rank that the module does not have.
  std::optional<int64_t> getScalar(mlir::Value value, int64_t rank);

private:
  std::optional<Integers> evaluate(mlir::Value value);

  int64_t numRanks = 1;
  int64_t numPartitions = 1;
  unsigned depth = 0;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Integers>> known;
};

} // namespace cgx

#endif // CGX_PASSES_RANKVALUES_H
