//===-- StructFields.h - attributes of named fields --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text is `<key = value, ...>` in any order; lists that are empty and numbers that are 0 are left out.
// The fields of each attribute stand in one list, which both its parser and its printer use.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STRUCTFIELDS_H
#define CGX_DIALECT_STABLEHLO_STRUCTFIELDS_H

#include "mlir/IR/OpImplementation.h"

#include <variant>

namespace cgx::stablehlo {

using Dims = llvm::SmallVector<int64_t>;

/// A field and where its value goes when parsed, or comes from when printed.
struct Field {
  llvm::StringRef name;
  std::variant<Dims *, int64_t *, bool *, mlir::Type *> value;
  bool alwaysPrinted = false;
};

mlir::ParseResult parseFields(mlir::AsmParser &parser, llvm::ArrayRef<Field> fields);
void printFields(mlir::AsmPrinter &printer, llvm::ArrayRef<Field> fields);

} // namespace cgx::stablehlo

#endif // CGX_DIALECT_STABLEHLO_STRUCTFIELDS_H
