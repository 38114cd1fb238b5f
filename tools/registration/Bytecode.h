//===-- Bytecode.h - Modules in MLIR's bytecode -----------------*- C++ -*-===//
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

/// The first bytes of MLIR's bytecode.
inline constexpr llvm::StringLiteral kBytecodeMagic = "ML\xefR";

/// Converts bytecode to text in a process of its own, because MLIR's reader trusts its input: if the process
/// ends by a signal, the file is damaged. `text` becomes the module with its locations. Returns false, and
/// lines such as "step.mlirbc: error: ..." in `text`, on an error.
bool bytecodeToText(llvm::StringRef bytecode, llvm::StringRef name, const mlir::DialectRegistry &registry,
                    std::string &text);

} // namespace cgx

#endif // CGX_TOOLS_BYTECODE_H
