//===-- LayerTable.h - A program as a table of layers -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decisions are made about tables of collectives and their layers (cgx/layers), which frameworks have as
// well. Passes make such a table of a program, and write the decisions into attributes.
#ifndef CGX_PASSES_LAYERTABLE_H
#define CGX_PASSES_LAYERTABLE_H

#include "cgx/Dialect/Cgx/LayerCodec.h"
#include "cgx/layers/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"

namespace cgx {

/// The collectives of a module in the order of the program, and the ops that they are.
struct LayerTable {
  explicit LayerTable(mlir::ModuleOp module);

  /// Gives the ops the codecs and reasons that the table has.
  void writeBack();

  mlir::ModuleOp module;
  layers::Table table;
  llvm::SmallVector<CollectiveOpInterface> ops; ///< of the collectives of the table
  /// Returns the op of a collective of this table.
  CollectiveOpInterface getOp(const layers::Collective &collective) const {
    return ops[&collective - table.collectives.data()];
  }
};

/// Describes an operand that has a layer, a type and a codec.
layers::Operand toLayerOperand(LayerAttr layer, mlir::RankedTensorType type, CodecAttrInterface codec);

layers::Collective toLayerCollective(CollectiveOpInterface op);

std::vector<std::vector<int64_t>> toLayerGroups(GroupsAttr groups);

/// Returns the mesh of a module; without axes, where it has none.
layers::Mesh toLayerMesh(mlir::ModuleOp module);

/// Emits `diagnostics` at the module.
void emitAt(mlir::ModuleOp module, const layers::Diagnostics &diagnostics);

} // namespace cgx

#endif // CGX_PASSES_LAYERTABLE_H
