//===-- Conversion.h - Helpers of the conversions of StableHLO -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// Patterns read the sign of an integer from the type of the original operation; the converted
// operands are signless. A pattern that does not cover a case fails to match, and the
// pass then names the operation in its error.
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_CONVERSION_H
#define CGX_PASSES_NATIVE_STABLEHLO_CONVERSION_H

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Transforms/DialectConversion.h"

namespace cgx {

/// Turns unsigned and signed integers into signless ones, and types that processors do not have into bytes
/// (NarrowTypes.h), in tensors and outside.
class SignlessTypeConverter : public mlir::TypeConverter {
public:
  SignlessTypeConverter();
};

// There is one function for each file of patterns.
void populateElementwisePatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateDataMovementPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateSlicePatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateReductionPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateContractionPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateConvolutionPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateReduceWindowPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateSelectAndScatterPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateSortPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateGatherScatterPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateControlFlowPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateRandomBitsPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);
void populateRankPatterns(const mlir::TypeConverter &, mlir::RewritePatternSet &);

// ---- Building blocks ---------------------------------------------------------------

/// Returns an uninitialized tensor.
mlir::Value emptyTensor(mlir::OpBuilder &, mlir::Location, mlir::RankedTensorType);
/// Returns an uninitialized tensor for a loop to write in place. Equal tensors of the other kind are merged,
/// and bufferization does not separate several values that are written to uninitialized memory.
mlir::Value ownTensor(mlir::OpBuilder &, mlir::Location, mlir::RankedTensorType);
/// Returns a tensor that holds `scalar` everywhere.
mlir::Value filledTensor(mlir::OpBuilder &, mlir::Location, mlir::RankedTensorType, mlir::Value scalar);
/// Returns the zero of an integer or floating-point type.
mlir::Value zeroOf(mlir::OpBuilder &, mlir::Location, mlir::Type);
/// Returns the element of a tensor of rank 0.
mlir::Value scalarOf(mlir::OpBuilder &, mlir::Location, mlir::Value tensor);
/// Returns the elements in row-major order under another static shape.
mlir::Value reshaped(mlir::OpBuilder &, mlir::Location, mlir::Value tensor, llvm::ArrayRef<int64_t> shape);
/// Drops the dimensions in `dropped`, all of extent 1.
mlir::Value withoutUnitDims(mlir::OpBuilder &, mlir::Location, mlir::Value tensor,
                            llvm::function_ref<bool(int64_t dim)> dropped);
/// Transposes: result[i0, i1, ...] = tensor[...] with result dimension k running over dimension
/// `permutation[k]`.
mlir::Value transposed(mlir::OpBuilder &, mlir::Location, mlir::Value tensor,
                       llvm::ArrayRef<int64_t> permutation);
/// Pads: element i of a dimension goes to low + i * (interior + 1), everything else is `scalar`. Negative
/// padding drops the elements whose place lies outside.
mlir::Value padded(mlir::OpBuilder &, mlir::Location, mlir::Value tensor, mlir::Value scalar,
                   llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                   llvm::ArrayRef<int64_t> interior);
/// Returns an integer scalar as an index, by its original sign.
mlir::Value indexOf(mlir::OpBuilder &, mlir::Location, mlir::Value integer, mlir::Type original);
mlir::Value constantIndex(mlir::OpBuilder &, mlir::Location, int64_t);
/// Returns `index` moved into [0, upper].
mlir::Value clampedIndex(mlir::OpBuilder &, mlir::Location, mlir::Value index, int64_t upper);

/// Builds sequential loops over `extents`, the last innermost. Each hands on the values that `body` returns,
/// given the indices and the values of the iteration before.
llvm::SmallVector<mlir::Value>
loopNest(mlir::OpBuilder &, mlir::Location, llvm::ArrayRef<int64_t> extents, mlir::ValueRange inits,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::ValueRange indices,
                                                           mlir::ValueRange carried)>
             body);

/// Returns parallel iterators.
llvm::SmallVector<mlir::utils::IteratorType> parallel(int64_t count);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_CONVERSION_H
