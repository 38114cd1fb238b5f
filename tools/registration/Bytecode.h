//===-- Bytecode.h - modules in MLIR's bytecode -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_BYTECODE_H
#define CGX_TOOLS_BYTECODE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace cgx {

/// How MLIR's bytecode begins.
inline constexpr llvm::StringLiteral kBytecodeMagic = "ML\xefR";

/// Reads bytecode in a process of its own, whose end by a signal is damage of the file: MLIR's reader
/// believes what it reads. `text` becomes the module, with its locations. False with lines such as
/// "step.mlirbc: error: ..." in `text`.
bool bytecodeToText(llvm::StringRef bytecode, llvm::StringRef name, const mlir::DialectRegistry &registry,
                    std::string &text);

} // namespace cgx

#endif // CGX_TOOLS_BYTECODE_H
