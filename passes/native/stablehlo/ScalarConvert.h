//===-- ScalarConvert.h - Conversions and comparisons of one element -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_SCALARCONVERT_H
#define CGX_PASSES_NATIVE_STABLEHLO_SCALARCONVERT_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cgx::stablehlo {
enum class ComparisonDirection : uint32_t;
enum class ComparisonType : uint32_t;
} // namespace cgx::stablehlo

namespace cgx {

/// Returns whether arithmetic on the (original) type is unsigned; that on booleans is.
bool isUnsigned(mlir::Type type);

/// Converts a stored element of type `from` to type `to`, both with their signs. Returns null for complex
/// numbers. Floating point to integer saturates, and NaN becomes 0, as in XLA.
mlir::Value convertScalar(mlir::ImplicitLocOpBuilder &, mlir::Value value, mlir::Type from, mlir::Type to);

/// Rounds a float once to one of fewer bits, to nearest even.
mlir::Value truncateFloat(mlir::ImplicitLocOpBuilder &, mlir::Value value, mlir::FloatType to);

/// Compares two stored elements. `total` orders NaN and the zeros by their bits.
mlir::Value compareScalars(mlir::ImplicitLocOpBuilder &, stablehlo::ComparisonDirection, bool total,
                           mlir::Value lhs, mlir::Value rhs, mlir::Type original);

/// Rounds to a float of fewer exponent and mantissa bits, to nearest even, in the same type.
mlir::Value reducePrecision(mlir::ImplicitLocOpBuilder &, mlir::Value value, unsigned exponentBits,
                            unsigned mantissaBits);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_SCALARCONVERT_H
