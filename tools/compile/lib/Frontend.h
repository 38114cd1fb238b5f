//===-- Frontend.h - MLIR text to the LLVM dialect -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_TOOLS_COMPILE_FRONTEND_H
#define CGX_TOOLS_COMPILE_FRONTEND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace cgx::compile {

/// Dialects and interfaces that a compilation needs.
void registerEverything(mlir::DialectRegistry &registry);

/// Parses, imports where the module is not a per-rank program yet, and lowers. Null
/// after a diagnostic. Stores the text of the manifest.
mlir::OwningOpRef<mlir::ModuleOp> lowerSource(const std::shared_ptr<llvm::SourceMgr> &source,
                                              mlir::MLIRContext &context, std::string &manifest);

} // namespace cgx::compile

#endif // CGX_TOOLS_COMPILE_FRONTEND_H
