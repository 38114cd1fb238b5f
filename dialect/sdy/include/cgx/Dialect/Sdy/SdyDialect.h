//===-- SdyDialect.h - the sdy dialect --------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_SDYDIALECT_H
#define CGX_DIALECT_SDY_SDYDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "cgx/Dialect/Sdy/SdyDialect.h.inc"
#include "cgx/Dialect/Sdy/SdyEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Sdy/SdyAttrs.h.inc"

#define GET_OP_CLASSES
#include "cgx/Dialect/Sdy/SdyOps.h.inc"

namespace cgx::sdy {

/// The attribute that holds the sharding of a function argument or result
/// (`#sdy.sharding`) or of the results of an op (`#sdy.sharding_per_value`).
inline constexpr llvm::StringLiteral kShardingAttrName = "sdy.sharding";

/// Returns the type of this device's piece of a value of type `global`: each dimension
/// divided by the sizes of those of its axes that are in `manualAxes`. Null
/// when a dimension is not divisible or `sharding` does not fit the type.
mlir::Type getLocalType(mlir::Type global, TensorShardingAttr sharding, MeshAttr mesh,
                        llvm::ArrayRef<mlir::StringAttr> manualAxes);

} // namespace cgx::sdy

#endif // CGX_DIALECT_SDY_SDYDIALECT_H
