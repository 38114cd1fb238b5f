//===-- NarrowTypes.h - Types that processors do not have -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// Floats of at most 8 bits and integers of 2 to 7 lie in memory as bytes: floats as their bits, integers
// extended by their sign. Arithmetic on such floats is that of f32, rounded to the nearest even after each
// operation, as in XLA; arithmetic on such integers wraps at their width.
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_NARROWTYPES_H
#define CGX_PASSES_NATIVE_STABLEHLO_NARROWTYPES_H

#include "cgx/Passes/Manifest.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cgx {

/// Returns the type in memory: a byte for narrow types, else the type itself without its sign.
mlir::Type getStorageType(mlir::Type element);
/// Returns the type of arithmetic: f32 for narrow floats, else the type itself.
mlir::Type getComputeType(mlir::Type element);

/// These convert between the two types; the value is unchanged where they are one.
mlir::Value fromStorage(mlir::ImplicitLocOpBuilder &, mlir::Value stored, mlir::Type element);
mlir::Value toStorage(mlir::ImplicitLocOpBuilder &, mlir::Value computed, mlir::Type element);

/// These convert between a stored element and its bits, an integer of its width.
mlir::Value bitsOfStored(mlir::ImplicitLocOpBuilder &, mlir::Value stored, mlir::Type element);
mlir::Value storedOfBits(mlir::ImplicitLocOpBuilder &, mlir::Value bits, mlir::Type element);

/// Returns a constant as memory holds it.
mlir::DenseElementsAttr toStorage(mlir::DenseElementsAttr);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_NARROWTYPES_H
