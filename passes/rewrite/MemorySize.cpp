//===-- MemorySize.cpp - Sizes of memory in options -----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemorySize.h"

#include "mlir/IR/TypeRange.h"
#include "llvm/Support/MathExtras.h"

namespace cgx {

uint64_t getTensorBytes(mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  return llvm::divideCeil(uint64_t(tensor.getNumElements()) * tensor.getElementTypeBitWidth(), 8);
}

uint64_t getTensorBytes(mlir::TypeRange types) {
  uint64_t bytes = 0;
  for (mlir::Type type : types)
    bytes += getTensorBytes(type);
  return bytes;
}

} // namespace cgx
