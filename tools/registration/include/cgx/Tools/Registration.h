//===-- Registration.h - Every dialect and pass of cgx ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one list of what cgx adds to MLIR. cgx-opt, cgx-lsp-server and the plugin all register from
// here, so that all of them know the same dialects and passes.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_REGISTRATION_H
#define CGX_TOOLS_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace cgx {

/// Adds the cgx, stablehlo and sdy dialects.
void registerCgxDialects(mlir::DialectRegistry &registry);

/// Registers the passes and pipelines of import, rewrite and lowering.
void registerCgxPasses();

/// Adds the dialect between cgx and native code, with its interface models, and registers its passes
/// (CgxNativeRegistration), for programs that offer all of cgx. Does nothing in a build without
/// CGX_BUILD_NATIVE.
void registerCgxNativeDialects(mlir::DialectRegistry &registry);
void registerCgxNativePasses();

} // namespace cgx

#endif // CGX_TOOLS_REGISTRATION_H
