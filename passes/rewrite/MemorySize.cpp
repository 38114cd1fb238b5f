//===-- MemorySize.cpp - Sizes of memory in options -----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemorySize.h"

#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace cgx {

std::optional<uint64_t> parseMemorySize(llvm::StringRef text) {
  if (text == "all")
    return UINT64_MAX;
  uint64_t number = 0;
  if (text.consumeInteger(10, number))
    return std::nullopt;
  auto shift = llvm::StringSwitch<std::optional<unsigned>>(text)
                   .Case("", 0)
                   .Cases({"K", "KiB"}, 10)
                   .Cases({"M", "MiB"}, 20)
                   .Cases({"G", "GiB"}, 30)
                   .Default(std::nullopt);
  if (!shift || (number << *shift) >> *shift != number)
    return std::nullopt;
  return number << *shift;
}

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
