//===-- Frontend.h - The LLVM dialect from MLIR text ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_TOOLS_COMPILE_FRONTEND_H
#define CGX_TOOLS_COMPILE_FRONTEND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>

namespace cgx::compile {

/// A module in memory, and the context that reads it. Diagnostics go to a stream.
class Reading {
public:
  /// Takes MLIR text or bytecode.
  Reading(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::raw_ostream &messages);

  /// Parses the module. Returns null after a diagnostic.
  mlir::OwningOpRef<mlir::ModuleOp> parse();
  mlir::MLIRContext &getContext() { return *context; }

private:
  std::shared_ptr<llvm::SourceMgr> source; ///< null after an error that was printed
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> handler;
};

/// Imports the module unless it is a per-rank program, and lowers it. Stores the text of the manifest.
mlir::LogicalResult lower(mlir::ModuleOp module, std::string &manifest);

} // namespace cgx::compile

#endif // CGX_TOOLS_COMPILE_FRONTEND_H
