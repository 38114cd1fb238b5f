//===-- CodeGen.h - The LLVM dialect to machine code -----------------*- C++ -*-===//
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

/// Optimizes for the processor and emits: one file, or for Output::Objects as many as threads of the context
/// find something to do, which leaves the module without the functions of the others. Nothing after a
/// diagnostic on the module.
std::optional<std::vector<std::string>> generateCode(mlir::ModuleOp module, const Options &options);

} // namespace cgx::compile

#endif // CGX_TOOLS_COMPILE_CODEGEN_H
