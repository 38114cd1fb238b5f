//===-- BooleanLiterals.h - hexadecimal i1 literals of two kinds -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A literal of more than 100 elements is written in hexadecimal: `dense<"0x...">`. LLVM 22 writes a bit per
// element of i1, LLVM 23, which jaxlib 0.10 is built with, a byte. The length tells which: it differs for all
// but one element.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_BOOLEANLITERALS_H
#define CGX_DIALECT_STABLEHLO_BOOLEANLITERALS_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace cgx::stablehlo {

/// Returns the digits, after `0x`, of `dense<"0x..."> : tensor<...xi1>` with a byte per element, where
/// `text`, which ends in NUL, begins with one. Looks at nothing beyond the type.
std::optional<llvm::StringRef> matchByteBooleans(const char *text);

/// Returns element `index` of such digits.
bool getByteBoolean(llvm::StringRef digits, size_t index);

} // namespace cgx::stablehlo

#endif // CGX_DIALECT_STABLEHLO_BOOLEANLITERALS_H
