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

/// What an elementwise operation of StableHLO does to one element of each of its
/// operands, given as what memory holds of them. Null where `op` is not elementwise, or is not
/// defined here for its types.
mlir::Value emitScalar(mlir::OpBuilder &, mlir::Operation *op, mlir::ValueRange operands);

/// Whether `emitScalar` knows `op`.
bool isElementwise(mlir::Operation *op);

/// What the body of a reduction, scatter or sort, a region on tensors of rank 0, yields
/// for what memory holds of its arguments. Failure where it contains something else than elementwise
/// operations and constants.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitScalarRegion(mlir::OpBuilder &, mlir::Region &,
                                                                 mlir::ValueRange arguments);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_SCALAR_H
