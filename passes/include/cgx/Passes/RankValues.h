//===-- RankValues.h - values computed from the number of the rank -*- C++ -*-===//
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

/// Evaluates integers that depend only on the number of the rank, for every rank: offsets of its pieces, and
/// its positions along the axes of the mesh. Frontends write them as products, remainders or tables, with
/// guards against negative indices; evaluating them recognizes every spelling.
class RankValues {
public:
  /// The elements of a tensor in row-major order, on each rank.
  class Integers {
  public:
    explicit Integers(std::vector<llvm::APInt> uniform) : byRank{std::move(uniform)} {}
    explicit Integers(std::vector<std::vector<llvm::APInt>> byRank) : byRank(std::move(byRank)) {}

    /// Returns whether all ranks have the same elements, which are stored once.
    bool isUniform() const { return byRank.size() == 1; }
    llvm::ArrayRef<llvm::APInt> of(int64_t rank) const { return byRank[isUniform() ? 0 : rank]; }

  private:
    std::vector<std::vector<llvm::APInt>> byRank;
  };

  explicit RankValues(mlir::ModuleOp module);

  int64_t getNumRanks() const { return numRanks; }

  /// Evaluates a value. Returns null if `value` is no small tensor of integers or depends on more than the
  /// number of the rank. Results are kept: a value is evaluated once.
  const Integers *get(mlir::Value value);

  /// Returns the result of an op of such operands, given them; null where it cannot be evaluated. Nothing is
  /// kept: in another round of a loop the operands may be others.
  std::optional<Integers> evaluate(mlir::Operation *op, llvm::ArrayRef<const Integers *> operands) const;

  /// Returns a scalar as a number, on one rank; nothing for a rank that the module does not have.
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
