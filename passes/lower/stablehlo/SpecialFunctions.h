//===-- SpecialFunctions.h - Functions without a C function ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_LOWER_STABLEHLO_SPECIALFUNCTIONS_H
#define CGX_PASSES_LOWER_STABLEHLO_SPECIALFUNCTIONS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cgx {

// Each of a scalar of f32 or narrower, computed in f32. Null for f64: the approximations have the accuracy
// of f32.

/// The inverse of the error function; infinite at -1 and 1, NaN beyond.
mlir::Value emitErfInv(mlir::ImplicitLocOpBuilder &, mlir::Value);
/// The logarithm of the absolute value of the gamma function.
mlir::Value emitLgamma(mlir::ImplicitLocOpBuilder &, mlir::Value);
/// The derivative of the logarithm of the gamma function; NaN at its poles.
mlir::Value emitDigamma(mlir::ImplicitLocOpBuilder &, mlir::Value);

} // namespace cgx

#endif // CGX_PASSES_LOWER_STABLEHLO_SPECIALFUNCTIONS_H
