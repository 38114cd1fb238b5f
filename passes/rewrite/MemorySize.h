//===-- MemorySize.h - Sizes of memory in options ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_MEMORYSIZE_H
#define CGX_PASSES_REWRITE_MEMORYSIZE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace cgx {

/// Returns the bytes of a tensor of static shape.
uint64_t getTensorBytes(mlir::Type type);

/// Returns the bytes of all tensors.
uint64_t getTensorBytes(mlir::TypeRange types);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_MEMORYSIZE_H
