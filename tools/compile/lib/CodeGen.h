//===-- CodeGen.h - Machine code from the LLVM dialect ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_TOOLS_COMPILE_CODEGEN_H
#define CGX_TOOLS_COMPILE_CODEGEN_H

#include "cgx/compile.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace cgx::compile {

/// Optimizes for the processor and emits code. The result is one file, or for Output::Objects as many files
/// as threads of the context have work; `module` then loses the functions of the other files. Returns nothing
/// after a diagnostic on the module.
std::optional<std::vector<std::string>> generateCode(mlir::ModuleOp module, const Options &options);

} // namespace cgx::compile

#endif // CGX_TOOLS_COMPILE_CODEGEN_H
