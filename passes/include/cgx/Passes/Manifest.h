//===-- Manifest.h - The manifest of a program -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef CGX_PASSES_MANIFEST_H
#define CGX_PASSES_MANIFEST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace cgx {

#define GEN_PASS_DECL
#include "cgx/Passes/Manifest.h.inc"

/// An attribute of the module: the text of the manifest.
inline constexpr llvm::StringLiteral manifestAttrName = "cgx_rt.manifest";

/// Puts the manifest on the module, with or without the arguments and results of @main. Fails after a
/// diagnostic.
mlir::LogicalResult emitManifest(mlir::ModuleOp module, bool withSignature);

/// Returns the text of the manifest that the lowering left on the module; empty before.
llvm::StringRef getManifest(mlir::ModuleOp module);

/// Returns the one function with a body, which is called main and consists of one block.
/// Emits an error where there is no such function.
mlir::FailureOr<mlir::func::FuncOp> lookupMain(mlir::ModuleOp module);

/// Returns whether an element type is stored in another type than it is computed in, as floats of at most 8
/// bits and integers of 2 to 7 are.
bool isNarrow(mlir::Type element);

/// Registers the pass declared here.
void registerManifestPasses();

} // namespace cgx

#endif // CGX_PASSES_MANIFEST_H
