//===-- LibraryConvolution.h - Convolutions that the runtime computes -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_LIBRARYCONVOLUTION_H
#define CGX_PASSES_NATIVE_STABLEHLO_LIBRARYCONVOLUTION_H

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

namespace cgx {

/// Returns the result of a convolution by `cgx_native_convolution_f32`; null where the runtime has none of
/// its kind, or the call would cost more than it saves.
mlir::Value libraryConvolution(mlir::OpBuilder &, stablehlo::ConvolutionOp, mlir::Value lhs, mlir::Value rhs,
                               mlir::RankedTensorType type);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_LIBRARYCONVOLUTION_H
