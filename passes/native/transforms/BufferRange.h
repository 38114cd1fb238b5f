//===-- BufferRange.h - The memory that a buffer may touch -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// After cgx-plan-memory the buffers of a step are its arguments, constants and parts of the scratch memory at
// known offsets, so that overlaps are known exactly.
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_TRANSFORMS_BUFFERRANGE_H
#define CGX_PASSES_NATIVE_TRANSFORMS_BUFFERRANGE_H

#include "mlir/IR/Value.h"

namespace cgx {

/// The bytes [begin, end) of `root`.
struct BufferRange {
  mlir::Value root;
  int64_t begin, end;
  /// True if nothing but views of `root` reaches its memory: an argument of main, or a constant.
  bool isRootSeparate;

  /// Returns the bytes that a buffer may touch: all of its root where views cannot be followed.
  static BufferRange of(mlir::Value buffer);

  /// Returns whether no byte is in both.
  bool isDisjointFrom(const BufferRange &other) const;
};

} // namespace cgx

#endif // CGX_PASSES_NATIVE_TRANSFORMS_BUFFERRANGE_H
