//===-- PortableMlir.h - Machine-independent parts of MLIR ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own lists of all dialects and passes bring LLVM's code generators with them, two thirds
// of the size of a self-contained compiler. Steps need less.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_PORTABLEMLIR_H
#define CGX_TOOLS_PORTABLEMLIR_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace cgx {

/// Adds the dialects of MLIR that steps consist of or are lowered to, with the interfaces that bufferization,
/// tiling, inlining, sharding and the conversion to the LLVM dialect need. Dialects for particular
/// processors, GPUs and other machines are left out.
void registerPortableDialects(mlir::DialectRegistry &registry);

/// Registers the passes of MLIR on these dialects.
void registerPortablePasses();

/// Adds the dialects that programs for developers offer: all of MLIR, or in a self-contained build the
/// portable ones.
void registerOfferedDialects(mlir::DialectRegistry &registry);

/// Registers the passes that programs for developers offer, by that rule.
void registerOfferedPasses();

} // namespace cgx

#endif // CGX_TOOLS_PORTABLEMLIR_H
