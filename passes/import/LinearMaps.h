//===-- LinearMaps.h - ops that commute with a sum over ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_LINEARMAPS_H
#define CGX_PASSES_IMPORT_LINEARMAPS_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/Builders.h"

namespace cgx {

/// Returns the operand on which `op` is linear, element by element, and null if `op` is no such map: negate,
/// transpose, reshape, reverse, convert between floats, and multiply or divide by one number for all
/// elements. Such a map L has L(a) + L(b) = L(a + b), but for the rounding of floats.
mlir::OpOperand *getLinearOperand(mlir::Operation *op);

/// Returns whether the linear map `op` is the same on every rank, and loses nothing: then, over ranks r,
/// L(sum x_r) = sum L(x_r). A factor must be a constant; a convert must be to a wider type.
bool commutesWithRanks(mlir::Operation *op);

/// Returns whether two linear maps compute the same from the same operand.
bool areSameMap(mlir::Operation *a, mlir::Operation *b);

/// Returns the value that `value` has in all of its elements, as a tensor of one element: the operand of a
/// broadcast, or a constant. Null if that is not known.
mlir::Value getSplat(mlir::Value value);

/// Returns `value`, which has one number in all elements, with the shape of `type`.
mlir::Value reshapeSplat(mlir::OpBuilder &builder, mlir::Value value, mlir::RankedTensorType type);

/// Does to `value` what `op` does to its linear operand, whatever the shape of `value` where `op` is
/// elementwise.
mlir::Value applyMap(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value value);

/// A value as linear maps of one result of an all-reduce, each of which only the next one uses.
struct MappedReduction {
  AllReduceOp reduce;
  unsigned operand;
  llvm::SmallVector<mlir::Operation *> maps; ///< in order: the first reads the result

  mlir::Value getInput() { return reduce.getInputs()[operand]; }
};

/// Returns the all-reduce in the block of `user`, a sum or a mean, of which `value` is a linear map; no value
/// on the way has other users.
std::optional<MappedReduction> matchMappedReduction(mlir::Value value, mlir::Block *block);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_LINEARMAPS_H
