//===-- SpecialFunctions.h - Functions without a C function ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_SPECIALFUNCTIONS_H
#define CGX_PASSES_NATIVE_STABLEHLO_SPECIALFUNCTIONS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cgx {

// Each of scalars of f64 or narrower. They are computed in f64, erf_inv of narrower types in f32: random
// normal numbers need many.

/// Returns the inverse of the error function; infinite at -1 and 1, NaN beyond.
mlir::Value emitErfInv(mlir::ImplicitLocOpBuilder &, mlir::Value);
/// Returns the logarithm of the absolute value of the gamma function.
mlir::Value emitLgamma(mlir::ImplicitLocOpBuilder &, mlir::Value);
/// Returns the derivative of the logarithm of the gamma function; NaN at its poles.
mlir::Value emitDigamma(mlir::ImplicitLocOpBuilder &, mlir::Value);
/// Returns the derivative of digamma of an order that is 0 or a positive integer; NaN for other orders.
mlir::Value emitPolygamma(mlir::ImplicitLocOpBuilder &, mlir::Value order, mlir::Value);
/// Returns the sum of 1 / (q + k)^x over k from 0, for x > 1; for q below 0 only where x is an integer.
mlir::Value emitZeta(mlir::ImplicitLocOpBuilder &, mlir::Value x, mlir::Value q);
/// Returns the modified Bessel function of order 1, times exp(-|x|).
mlir::Value emitBesselI1e(mlir::ImplicitLocOpBuilder &, mlir::Value);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_SPECIALFUNCTIONS_H
