//===-- Window.h - Windows that slide over a tensor ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_WINDOW_H
#define CGX_PASSES_NATIVE_STABLEHLO_WINDOW_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace cgx {

/// A window in one dimension, over elements that stand `baseDilation` apart between paddings.
struct Window {
  int64_t size = 1, stride = 1, low = 0, high = 0, baseDilation = 1, dilation = 1;
  bool reversed = false;

  /// Returns whether each output reads the one element at its own place.
  bool isTrivial() const { return size == 1 && stride == 1 && low == 0 && high == 0 && baseDilation == 1; }
  /// Returns the index in the padded tensor that the output at `output` reads at the place `place` of the
  /// window.
  mlir::AffineExpr at(mlir::AffineExpr output, mlir::AffineExpr place) const;
};

/// Returns the attributes of a StableHLO operation as windows of the given sizes; absent ones have their
/// defaults.
llvm::SmallVector<Window> windowsOf(llvm::ArrayRef<int64_t> sizes,
                                    std::optional<llvm::ArrayRef<int64_t>> strides,
                                    std::optional<mlir::DenseIntElementsAttr> padding,
                                    std::optional<llvm::ArrayRef<int64_t>> baseDilations,
                                    std::optional<llvm::ArrayRef<int64_t>> windowDilations);

/// Returns `tensor` with the padding and dilation that its windows, one for each dimension, expect.
mlir::Value paddedFor(llvm::ArrayRef<Window>, mlir::OpBuilder &, mlir::Location, mlir::Value tensor,
                      mlir::Value scalar);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_WINDOW_H
