//===-- MissingCode.h - Errors for ops without native code -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_STABLEHLO_MISSINGCODE_H
#define CGX_PASSES_NATIVE_STABLEHLO_MISSINGCODE_H

#include "mlir/IR/BuiltinOps.h"

namespace cgx {

/// Emits one error for all ops of frontends that are left in the module, where there are any: each kind once
/// (of custom calls each target), how many there are, where the first is, and what to do without it.
mlir::LogicalResult reportMissingCode(mlir::ModuleOp);

/// Returns what errors call an op: its name, or the target of a custom call.
mlir::StringAttr kindOf(mlir::Operation *);

} // namespace cgx

#endif // CGX_PASSES_NATIVE_STABLEHLO_MISSINGCODE_H
