//===-- BufferRange.h - What memory a buffer may touch ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// After cgx-plan-memory the buffers of a step are its arguments, constants and parts of the scratch
// memory at known offsets. So which of them overlap can be told exactly.
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
  /// Nothing but views of `root` reaches its memory: an argument of main, or a constant.
  bool isRootSeparate;

  /// What a buffer may touch: all of its root where views cannot be followed.
  static BufferRange of(mlir::Value buffer);

  /// No byte is in both.
  bool isDisjointFrom(const BufferRange &other) const;
};

} // namespace cgx

#endif // CGX_PASSES_NATIVE_TRANSFORMS_BUFFERRANGE_H
