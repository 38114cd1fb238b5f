//===-- Pipeline.cpp - the passes of the import, in their order -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace cgx {
#define GEN_PASS_REGISTRATION
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

void cgx::buildImportPipeline(mlir::OpPassManager &manager, bool scatters) {
  // Data flow is followed through tensors.
  manager.addPass(createFlattenTuplesPass());
  // Normalization requires calls that no longer return tuples. All later passes know StableHLO only.
  manager.addPass(createNormalizeHloPass());
  // JAX outlines functions (relu, log_softmax, a nested jit). Later passes follow data flow through the whole
  // step, so calls are inlined first.
  manager.addPass(createInlineFunctionsPass());
  // Local shapes, names and feeds are what the passes below rely on.
  manager.addPass(createImportManualComputationPass());
  manager.addPass(createExpandComplexCollectivesPass());
  manager.addPass(createExpandNarrowCollectivesPass());
  // Both kinds of collectives number their ids after those that are there.
  manager.addPass(createImportStablehloCollectivesPass());
  manager.addPass(createImportShardCollectivesPass());
  // Reductions are recognized first, so that later passes see one op for each, however it was spelled.
  manager.addPass(createRecognizeReductionsPass());
  // A label names one parameter, so each reduction is made to be of one before there are labels. Sums inside
  // of loops are combined first, since a loop that adds up one reduction needs no others, and its result is a
  // term again.
  manager.addPass(createCombineReductionsPass());
  manager.addPass(createHoistReductionsPass());
  manager.addPass(createCombineReductionsPass());
  // Reductions are split after they left loops: a vector of gradients is sliced there.
  manager.addPass(createSplitReductionsPass());
  // Reductions are scattered when each piece has its own slices.
  if (scatters)
    manager.addPass(createScatterReductionsPass());
  // Needs all collectives as cgx ops and all feeds.
  manager.addPass(createLabelLayersPass());
}

void cgx::registerImportPasses() {
  registerCgxImportPasses();
  mlir::PassPipelineRegistration<>(
      "cgx-import", "from an exported step to a per-rank program with labelled cgx collectives",
      [](mlir::OpPassManager &manager) { buildImportPipeline(manager); });
}
