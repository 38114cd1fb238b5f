//===-- RankDivision.h - Divisions by the number of ranks -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exported steps write a mean as a sum over the ranks and a division by a constant: of
// the sum itself, or of the loss before it was differentiated.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_RANKDIVISION_H
#define CGX_PASSES_REWRITE_RANKDIVISION_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

#include <optional>

namespace cgx {

/// The operand of an op that divides by a constant: `divide(x, N)`, or `multiply(x, 1 / N)`.
struct RankDivision {
  mlir::OpOperand *number;
  bool isReciprocal;
};

/// Returns how `op` divides by `ranks`; nothing if it does not.
std::optional<RankDivision> getDivisionBy(mlir::Operation *op, double ranks);

/// Returns the divisions of single numbers by `ranks` on the way to `value`: the loss was averaged over the
/// ranks before it was differentiated, so that a sum of gradients is their mean.
mlir::SmallVector<RankDivision> getScalarDivisions(mlir::Value value, double ranks);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_RANKDIVISION_H
