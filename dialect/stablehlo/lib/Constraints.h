//===-- Constraints.h - checks that verifiers share ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function emits an error on the op that it is given, and fails.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_CONSTRAINTS_H
#define CGX_DIALECT_STABLEHLO_CONSTRAINTS_H

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/TypeUtilities.h"

namespace cgx::stablehlo {

using llvm::ArrayRef;
using llvm::FailureOr;
using llvm::LogicalResult;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Region;
using mlir::Type;
using mlir::Value;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

inline RankedTensorType tensorOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

/// Returns the type that the numbers of a quantized type stand for, and any other type unchanged.
Type getExpressedType(Type element);

/// Returns whether values of one element type may stand where the other is expected: the types are equal, or
/// both are quantized with equal storage and expressed types.
bool isCompatibleElement(Type a, Type b);

/// Returns whether a computation may widen values of element type `from` to `to`.
bool isPromotable(Type from, Type to);

/// Returns the number of elements, if it is known and 64 bits hold it.
std::optional<int64_t> getElementCount(ArrayRef<int64_t> shape);

std::string textOf(ArrayRef<int64_t> numbers);

LogicalResult verifyRank(Operation *op, StringRef name, Value value, int64_t rank);
LogicalResult verifyElement(Operation *op, Value result, Value operand);
/// Verifies that the result has the inferred shape; dynamic dimensions fit any.
LogicalResult verifyShape(Operation *op, Value result, ArrayRef<int64_t> expected);
/// Verifies element type and shape.
LogicalResult verifyType(Operation *op, Value result, RankedTensorType expected);
/// Verifies that the shape is static except for one bounded dimension.
LogicalResult verifyStaticOrBounded(Operation *op, Value result);
/// Returns the bound of a dynamic dimension, or its size; dynamic if neither is known.
int64_t getMostSize(RankedTensorType type, int64_t dim);
LogicalResult verifySameShapes(Operation *op, StringRef name, mlir::ValueRange values);

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// Verifies that the result of an elementwise op has scales along the dimension along which an operand has
/// them.
LogicalResult verifySameDimensionOfScales(Operation *op);

/// Verifies that the result has the element type of the operand, with scales. Where each slice has its own,
/// they lie along `dimensionOf` that dimension. With `repeatsScales`, the scale of a dimension of size 1 may
/// stand for many.
LogicalResult verifySameQuantization(Operation *op, Value operand, Value result,
                                     llvm::function_ref<int64_t(int64_t)> dimensionOf,
                                     bool repeatsScales = false);

/// Verifies quantized types as above for a result of another shape, whose elements keep their scales.
LogicalResult verifyReshapedQuantization(Operation *op, Value operand, Value result);

/// The constraints that a contraction puts on dimensions with scales.
struct ProductDimensions {
  llvm::function_ref<bool(int64_t)> mayHaveScales; ///< of rhs
  std::optional<int64_t> outputFeature;            ///< of the result, if only this one may
  bool needsZeroRhs;                               ///< zero points of rhs are 0
};

/// Verifies the constraints of products on quantized operands.
LogicalResult verifyQuantizedProduct(Operation *op, Value lhs, Value rhs, Value result,
                                     const ProductDimensions &dims);

//===----------------------------------------------------------------------===//
// Lists of numbers
//===----------------------------------------------------------------------===//

/// Verifies that dimensions are in range, and unique.
LogicalResult verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims, int64_t rank);
LogicalResult verifySorted(Operation *op, StringRef name, ArrayRef<int64_t> dims);
LogicalResult verifyDisjoint(Operation *op, StringRef name, ArrayRef<int64_t> dims, StringRef otherName,
                             ArrayRef<int64_t> others);
LogicalResult verifyCount(Operation *op, StringRef name, size_t count, int64_t rank);
LogicalResult verifyPositive(Operation *op, StringRef name, ArrayRef<int64_t> values);

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Returns the types that the block of `region` returns. A region without a block or terminator has none.
mlir::TypeRange getReturnedTypes(Region &region);

/// Verifies that a region, named `name`, takes `types`.
LogicalResult verifyArguments(Operation *op, StringRef name, Region &region, mlir::TypeRange types);
LogicalResult verifyReturned(Operation *op, StringRef name, Region &region, mlir::TypeRange types);

/// Verifies a computation `(E0, ..., EN, E0, ..., EN) -> (E0, ..., EN)` of tensors of rank 0, each promotable
/// from the element types of `inputs` and `initials`. Sets `elements` to the `Ei`.
LogicalResult verifyReducer(Operation *op, StringRef name, Region &region, mlir::TypeRange inputs,
                            mlir::TypeRange initials, SmallVectorImpl<Type> &elements);

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The attributes of a window that slides over an operand; those that are absent have their defaults.
struct Window {
  ArrayRef<int64_t> dimensions;
  std::optional<ArrayRef<int64_t>> strides, baseDilations, windowDilations;
  std::optional<mlir::DenseIntElementsAttr> padding;
};

/// Verifies the attributes of a window against the rank of the operand.
LogicalResult verifyWindow(Operation *op, const Window &window, int64_t rank);

/// Returns how often the window fits along each dimension of `shape`. Fails where numbers are beyond 64 bits.
FailureOr<SmallVector<int64_t>> countWindows(Operation *op, const Window &window, ArrayRef<int64_t> shape);

/// Verifies that there is at most one precision per operand.
LogicalResult verifyPrecision(Operation *op, std::optional<mlir::ArrayAttr> precision);

/// Verifies that the first two operands and the result are complex, or none of them is.
LogicalResult verifyComplexProduct(Operation *op);

} // namespace cgx::stablehlo

#endif // CGX_DIALECT_STABLEHLO_CONSTRAINTS_H
