//===-- ChooseOverlap.cpp - Decides whether collectives overlap -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the program both ways, in two modules side by side, and keeps the one that takes less time.
//
//===----------------------------------------------------------------------===//

#include "StepTime.h"

#include "cgx/Passes/LayerTable.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

namespace cgx {
#define GEN_PASS_DEF_CHOOSEOVERLAPPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// The least gain that is worth the memory of overlap: a smaller one is within the error of the model.
constexpr double kLeastGain = 0.05;

struct ChooseOverlap : impl::ChooseOverlapPassBase<ChooseOverlap> {
  using ChooseOverlapPassBase::ChooseOverlapPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ChooseOverlapPassBase::getDependentDialects(registry);
    inTurn().getDependentDialects(registry);
    overlapped().getDependentDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    layers::Diagnostics diagnostics;
    const std::optional<layers::Machine> machine = layers::Machine::read(machineFile, diagnostics);
    emitAt(module, diagnostics);
    if (!machine)
      return signalPassFailure();
    if (!machine->saysComputing()) {
      module.emitWarning() << "machine '" << machineFile
                           << "' says nothing of cores and computing, so collectives do not overlap with it: "
                              "let cgx-bench calibrate measure it again, or say overlap=false or overlap";
      OpPassManager pipeline = inTurn();
      if (failed(runPipeline(pipeline, module)))
        signalPassFailure();
      return;
    }
    ModuleOp one = module.clone(), other = module.clone();
    Block *body = module.getBody();
    body->clear();
    body->push_back(one);
    body->push_back(other);
    OpPassManager plain = inTurn(), overlap = overlapped();
    if (failed(runPipeline(plain, one)) || failed(runPipeline(overlap, other)))
      return signalPassFailure();
    const double apart = getSeconds(one, *machine), ideal = getSeconds(other, *machine);
    // Sending takes something from computing, and computing from sending.
    const double together = apart - machine->overlappedShare() * (apart - ideal);
    const bool overlaps = together < (1 - kLeastGain) * apart;
    ModuleOp chosen = overlaps ? other : one;
    body->getOperations().splice(body->end(), chosen.getBody()->getOperations());
    one.erase();
    other.erase();
    if (overlaps)
      module.emitRemark() << llvm::formatv("collectives travel while ranks compute: {0:f3} ms a step by the "
                                           "cost model, {1:f3} ms one after the other",
                                           together * 1e3, apart * 1e3)
                                 .str();
  }

private:
  OpPassManager inTurn() const {
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(createGroupCollectivesPass(GroupCollectivesPassOptions{groupBytes}));
    return pipeline;
  }

  OpPassManager overlapped() const {
    OpPassManager pipeline(ModuleOp::getOperationName());
    OverlapPipelineOptions options;
    options.groupBytes = overlappedGroupBytes;
    buildOverlapPipeline(pipeline, options);
    return pipeline;
  }

  static double getSeconds(ModuleOp module, const layers::Machine &machine) {
    double seconds = 0;
    for (auto step : module.getOps<func::FuncOp>())
      if (step.isPublic() && !step.isExternal())
        seconds += getStepSeconds(step, machine);
    return seconds;
  }
};

} // namespace
} // namespace cgx
