//===-- Native.h - From a per-rank program to native code -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_H
#define CGX_PASSES_NATIVE_H

#include "cgx/Passes/Manifest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace cgx {

namespace rt {
class CgxRtDialect;
} // namespace rt

#define GEN_PASS_DECL
#include "cgx/Passes/Native.h.inc"

/// An attribute of a function that main calls and that can be compiled apart from it: it refers to nothing of
/// the module but functions of other libraries.
inline constexpr llvm::StringLiteral outlinedAttrName = "cgx_rt.outlined";

/// Appends the passes that take a per-rank program (imported; compressed or not) to the LLVM dialect, with
/// the entry point `cgx_program_step`, `cgx_program_release` and the constant `cgx_program_manifest`.
void buildLowerToLLVMPipeline(mlir::OpPassManager &manager);

/// Registers the passes declared here and the pipeline `--cgx-lower-to-llvm`.
void registerNativePasses();

/// Registers the dialect that the lowering uses in between, and the interface models
/// of upstream dialects that it relies on.
void registerNativeInterfaces(mlir::DialectRegistry &registry);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_H
