//===-- Import.h - from an exported step to cgx -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_H
#define CGX_PASSES_IMPORT_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace cgx {

#define GEN_PASS_DECL
#include "cgx/Passes/Import.h.inc"

/// Appends the passes that take an exported training step (StableHLO with sdy,
/// upstream's shard dialect) to a per-rank program whose collectives are cgx ops
/// that know their layers. `scatters`: a rank that keeps a slice of a sum gets no more.
void buildImportPipeline(mlir::OpPassManager &manager, bool scatters = true);

/// Registers the passes declared here and the pipeline `--cgx-import`.
void registerImportPasses();

} // namespace cgx

#endif // CGX_PASSES_IMPORT_H
