//===-- Scalar.h - StableHLO on one element --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_SCALAR_H
#define CGX_PASSES_NATIVE_STABLEHLO_SCALAR_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"

namespace cgx {

/// Applies an elementwise operation of StableHLO to one element of each of its operands, in their storage
/// types. Returns null where `op` is not elementwise, or not defined here for its types.
mlir::Value emitScalar(mlir::OpBuilder &, mlir::Operation *op, mlir::ValueRange operands);

/// Returns whether `emitScalar` supports `op`.
bool isElementwise(mlir::Operation *op);

/// Computes the results of the body of a reduction, scatter or sort, a region on tensors of rank 0, for
/// arguments in their storage types. Fails if it contains anything but elementwise operations and constants.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitScalarRegion(mlir::OpBuilder &, mlir::Region &,
                                                                 mlir::ValueRange arguments);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_SCALAR_H
