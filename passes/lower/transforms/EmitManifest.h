//===-- EmitManifest.h - What a program communicates, in words ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===--------------------------------------------------------------------------===//
#ifndef CGX_PASSES_LOWER_TRANSFORMS_EMITMANIFEST_H
#define CGX_PASSES_LOWER_TRANSFORMS_EMITMANIFEST_H

#include "mlir/IR/BuiltinOps.h"

namespace cgx {

/// Puts the manifest on the module; with or without what @main takes and returns. Fails after a diagnostic.
mlir::LogicalResult emitManifest(mlir::ModuleOp module, bool withSignature);

} // namespace cgx

#endif // CGX_PASSES_LOWER_TRANSFORMS_EMITMANIFEST_H
