//===-- RankSlice.h - this rank's piece of a whole value --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_RANKSLICE_H
#define CGX_PASSES_IMPORT_RANKSLICE_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/Builders.h"

namespace cgx {

/// Cuts the piece of the rank that runs the program out of `whole`, which every
/// rank has: a `stablehlo.dynamic_slice` at offsets computed from the rank's
/// number, `stablehlo.partition_id`.
mlir::Value createRankSlice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                            ShardingAttr sharding, MeshAttr mesh, mlir::RankedTensorType piece);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_RANKSLICE_H
