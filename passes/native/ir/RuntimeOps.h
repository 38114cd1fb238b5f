//===-- RuntimeOps.h - Calls of the runtime, before they are calls ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_IR_RUNTIMEOPS_H
#define CGX_PASSES_NATIVE_IR_RUNTIMEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "RuntimeDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "RuntimeTypes.h.inc"

#define GET_OP_CLASSES
#include "RuntimeOps.h.inc"

namespace cgx::rt {

/// Returns whether the C interface can take the buffer by its address: its elements are contiguous.
bool isDense(mlir::MemRefType);

/// Makes one-shot bufferization understand this dialect.
void registerBufferization(mlir::DialectRegistry &registry);

} // namespace cgx::rt

#endif // CGX_PASSES_NATIVE_IR_RUNTIMEOPS_H
