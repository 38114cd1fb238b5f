//===-- Expansions.h - Operations in terms of others -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_EXPANSIONS_H
#define CGX_PASSES_NATIVE_STABLEHLO_EXPANSIONS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace cgx {

// There is one function for each file of patterns, from StableHLO to StableHLO.
void populateBatchNormExpansions(mlir::RewritePatternSet &);
void populateEinsumExpansions(mlir::RewritePatternSet &);
void populateKnownCallExpansions(mlir::RewritePatternSet &);
void populateNarrowTypeExpansions(mlir::RewritePatternSet &);
void populatePlatformCallExpansions(mlir::RewritePatternSet &);
void populateRaggedDotExpansions(mlir::RewritePatternSet &);
void populateStaticFormExpansions(mlir::RewritePatternSet &);

// ---- Building blocks ---------------------------------------------------------------

/// Returns a tensor with one number in every element.
mlir::Value splatOf(mlir::ImplicitLocOpBuilder &, mlir::RankedTensorType, double);
/// Returns the sum over `dimensions`, in the type of `operand`.
mlir::Value sumOver(mlir::ImplicitLocOpBuilder &, mlir::Value operand, llvm::ArrayRef<int64_t> dimensions);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_EXPANSIONS_H
