//===-- Contractions.h - Matrix products -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_CONTRACTIONS_H
#define CGX_PASSES_NATIVE_STABLEHLO_CONTRACTIONS_H

#include "mlir/IR/Builders.h"

namespace cgx {

/// The dimensions that two operands share; pairs stand at equal positions.
struct ContractionDims {
  llvm::SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracted, rhsContracted;

  /// Returns the other dimensions, in ascending order.
  static llvm::SmallVector<int64_t> freeDims(int64_t rank, llvm::ArrayRef<int64_t> batch,
                                             llvm::ArrayRef<int64_t> contracted);
};

/// Returns the product of `lhs` and `rhs` with dimensions (batch, free of lhs, free of rhs), as
/// `type`: a linalg.contract of rank 2, or 3 with a batch. Null for elements other than numbers.
mlir::Value contract(mlir::OpBuilder &, mlir::Location, mlir::Value lhs, mlir::Value rhs, ContractionDims,
                     mlir::RankedTensorType type);

/// Returns the type in which products of `element` are summed: f32 for narrower floats.
mlir::Type accumulatorOf(mlir::OpBuilder &, mlir::Type element);

/// Returns `tensor` with its floats rounded or extended to `element`.
mlir::Value withElement(mlir::OpBuilder &, mlir::Location, mlir::Value tensor, mlir::Type element);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_CONTRACTIONS_H
