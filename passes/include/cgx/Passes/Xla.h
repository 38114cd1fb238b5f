//===-- Xla.h - From a per-rank program back to its framework -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef CGX_PASSES_XLA_H
#define CGX_PASSES_XLA_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace cgx {

#define GEN_PASS_DECL
#include "cgx/Passes/Xla.h.inc"

/// The options of `--cgx-lower-to-xla`. Those of a pass have its names and defaults.
struct LowerToXlaPipelineOptions : mlir::PassPipelineOptions<LowerToXlaPipelineOptions> {
  Option<std::string> program{*this, "program",
                              llvm::cl::desc("What the calls name the program by; its hash without"),
                              llvm::cl::init("")};
  Option<bool> perRank{*this, "per-rank",
                       llvm::cl::desc("Leave @main the program of one rank, as a partitioner made it"),
                       llvm::cl::init(false)};
};

/// Appends the passes that put a per-rank program (imported; compressed or not) back into the form that its
/// framework exported, with calls of our runtime in the place of collectives.
void buildLowerToXlaPipeline(mlir::OpPassManager &manager, const LowerToXlaPipelineOptions &options);

/// Returns the text of the manifest that a lowering left on the module, which then is there no more; empty
/// before.
std::string takeManifest(mlir::ModuleOp module);

/// Registers the passes declared here and the pipeline `--cgx-lower-to-xla`.
void registerXlaPasses();

} // namespace cgx

#endif // CGX_PASSES_XLA_H
