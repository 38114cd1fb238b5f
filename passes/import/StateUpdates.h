//===-- StateUpdates.h - results that are updates of arguments -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_STATEUPDATES_H
#define CGX_PASSES_IMPORT_STATEUPDATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <optional>

namespace cgx {

/// Returns the number that a value is everywhere, where it is computed from constants. `1 - x` is taken for
/// 1: weight decay is written like that, with a rate that may be an argument of the step.
std::optional<double> getKnownFactor(mlir::Value value);

/// The way in which the results of a step are computed from its arguments, which tells the next value of a
/// state from other results.
///
/// An update takes the value itself and adds something to it:
///
///   p' = p - rate * m'          share of p: 1, of m: none (it is subtracted)
///   m' = 0.9 * m + g + 1e-4 * p   share of m: 0.9, of p: 1e-4
///
/// The *share* of an argument in a result is the factor that its elements have there, each in its own place;
/// if several ways lead there, the largest. A flattened and a sliced state (ravel_pytree) keep their places
/// through concatenate and slice.
class StateUpdates {
public:
  explicit StateUpdates(mlir::func::FuncOp step);

  /// Returns the share of an argument of the result's type in a result; 0 if there is none.
  double getShare(unsigned result, unsigned argument) const;

  /// Returns whether the result is the argument's next value as far as arithmetic can tell: more than
  /// half of it is the old value.
  bool isUpdate(unsigned result, unsigned argument) const { return getShare(result, argument) > 0.5; }

  /// Returns the arguments of which that holds, in order.
  llvm::SmallVector<unsigned> getUpdatedArguments(unsigned result) const;

  /// Returns whether the result is the argument, unchanged.
  bool isUnchanged(unsigned result, unsigned argument) const;
  /// Returns whether the results are one and the same value.
  bool areSame(unsigned result, unsigned other) const;

  /// Returns whether the result keeps elements of the result of a reduction, as an update by a gradient does,
  /// and a prediction or a residual does not.
  bool keepsReduction(unsigned result) const;

private:
  struct Walk;
  /// The shares of arguments of `block` in a value of it.
  using Shares = llvm::DenseMap<mlir::BlockArgument, double>;
  const Shares &findShares(mlir::Value value) const;
  void findReductions(mlir::func::FuncOp step);

  mlir::Block *entry;
  mlir::Operation *terminator;
  llvm::DenseSet<mlir::Value> reduced; // Keep elements of a reduction.
  mutable llvm::DenseMap<mlir::Value, std::unique_ptr<Shares>> sharesOf;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_STATEUPDATES_H
