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
// operation, as XLA does it; arithmetic on such integers wraps at their width.
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_NARROWTYPES_H
#define CGX_PASSES_NATIVE_STABLEHLO_NARROWTYPES_H

#include "cgx/Passes/Manifest.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cgx {

/// What memory holds: a byte for narrow types, else the type itself without its sign.
mlir::Type getStorageType(mlir::Type element);
/// What arithmetic is done in: f32 for narrow floats, else the type itself.
mlir::Type getComputeType(mlir::Type element);

/// Between the two; the same value where they are one.
mlir::Value fromStorage(mlir::ImplicitLocOpBuilder &, mlir::Value stored, mlir::Type element);
mlir::Value toStorage(mlir::ImplicitLocOpBuilder &, mlir::Value computed, mlir::Type element);

/// The bits of an element, an integer of its width, out of what memory holds, and the inverse.
mlir::Value bitsOfStored(mlir::ImplicitLocOpBuilder &, mlir::Value stored, mlir::Type element);
mlir::Value storedOfBits(mlir::ImplicitLocOpBuilder &, mlir::Value bits, mlir::Type element);

/// A constant as memory holds it.
mlir::DenseElementsAttr toStorage(mlir::DenseElementsAttr);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_NARROWTYPES_H
