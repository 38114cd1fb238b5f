//===-- ScatteredRows.h - Rows that are added into a table ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_SCATTEREDROWS_H
#define CGX_PASSES_SCATTEREDROWS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace cgx {

/// Finds results of collectives that are added to a table row by row: sparse gradients of an embedding, which
/// travel as the rows that were looked up, beside their places.
///
///   table[places[i]] += rows[i]
class ScatteredRows {
public:
  struct Sum {
    mlir::Value before, table; ///< without the rows, and with them
    /// True if the places are computed from arguments of the step: row i is another one in the next step.
    bool movesPlaces;
  };

  /// Takes time linear in the op and, for each scatter, in the ops that its rows are made of element by
  /// element.
  explicit ScatteredRows(mlir::Operation *root);

  /// Returns the tables that the result of a collective is added to, in the order in which it lies in memory.
  llvm::ArrayRef<Sum> getSums(mlir::Value result) const;

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Sum, 1>> sums;
};

} // namespace cgx

#endif // CGX_PASSES_SCATTEREDROWS_H
