//===-- StablehloDialect.h - the stablehlo dialect -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_STABLEHLO_STABLEHLODIALECT_H
#define CGX_DIALECT_STABLEHLO_STABLEHLODIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h.inc"
#include "cgx/Dialect/Stablehlo/StablehloEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Stablehlo/StablehloAttrs.h.inc"

namespace cgx::stablehlo {

/// The number of elements up to which sizes in bytes stay within 64 bits, whatever the element type.
inline constexpr int64_t kMostElements = int64_t(1) << 56;

/// Returns whether the type is a ranked tensor whose known dimensions make no more elements than that.
bool isTensor(mlir::Type type);

/// Returns whether `op` exchanges tensors in groups of processes. Sends and receives have no groups.
bool isCollective(mlir::Operation *op);

/// Returns whether the type is quantized: its elements stand for other numbers, by a scale.
bool isQuantized(mlir::Type element);

} // namespace cgx::stablehlo

#define GET_TYPEDEF_CLASSES
#include "cgx/Dialect/Stablehlo/StablehloTypes.h.inc"

namespace cgx::stablehlo {

/// Fails unless operands and results of `op` have one element type.
llvm::LogicalResult verifyOneElementType(mlir::Operation *op);

/// An elementwise op that converts nothing.
template <typename ConcreteType>
struct OneElementType : mlir::OpTrait::TraitBase<ConcreteType, OneElementType> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyOneElementType(op); }
};

/// Fails unless the tensors that `op` takes and gives are sound.
llvm::LogicalResult verifySoundTypes(mlir::Operation *op);

template <typename ConcreteType> struct SoundTypes : mlir::OpTrait::TraitBase<ConcreteType, SoundTypes> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifySoundTypes(op); }
};

} // namespace cgx::stablehlo

#define GET_OP_CLASSES
#include "cgx/Dialect/Stablehlo/StablehloOps.h.inc"

#endif // CGX_DIALECT_STABLEHLO_STABLEHLODIALECT_H
