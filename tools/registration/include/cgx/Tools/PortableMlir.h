//===-- PortableMlir.h - What of MLIR is for no one machine -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own lists of all dialects and passes bring LLVM's code generators with them, two thirds
// of what a self-contained compiler would weigh. Steps are made of less.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_PORTABLEMLIR_H
#define CGX_TOOLS_PORTABLEMLIR_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace cgx {

/// Adds the dialects of MLIR that steps are made of or lowered to, with what bufferization, tiling, inlining,
/// sharding and the conversion to the LLVM dialect need to know of them: all but those of processors, GPUs
/// and other machines.
void registerPortableDialects(mlir::DialectRegistry &registry);

/// Registers the passes of MLIR on these dialects.
void registerPortablePasses();

/// What developers' programs offer of MLIR: all dialects, or in a self-contained build the portable ones.
void registerOfferedDialects(mlir::DialectRegistry &registry);

/// The same of passes.
void registerOfferedPasses();

} // namespace cgx

#endif // CGX_TOOLS_PORTABLEMLIR_H
