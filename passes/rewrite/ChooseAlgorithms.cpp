//===-- ChooseAlgorithms.cpp - Chooses the algorithms of all-reduces ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of cgx/layers/ChooseAlgorithms.h.

#include "cgx/layers/ChooseAlgorithms.h"
#include "cgx/Passes/LayerTable.h"
#include "cgx/Passes/Rewrite.h"

namespace cgx {
#define GEN_PASS_DEF_CHOOSEALGORITHMSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct ChooseAlgorithms : impl::ChooseAlgorithmsPassBase<ChooseAlgorithms> {
  using ChooseAlgorithmsPassBase::ChooseAlgorithmsPassBase;

  void runOnOperation() override {
    LayerTable program(getOperation());
    layers::Diagnostics diagnostics;
    const layers::AlgorithmOptions options = {algorithm, machineFile, local, inside, leaders};
    const auto refuse = [&](const layers::Collective &collective, const std::string &why) {
      program.getOp(collective).emitOpError() << why;
    };
    const bool isChosen = layers::chooseAlgorithms(program.table, options, refuse, diagnostics);
    emitAt(getOperation(), diagnostics);
    if (!isChosen)
      return signalPassFailure();
    program.writeBack();
    for (auto [op, collective] : llvm::zip_equal(program.ops, program.table.collectives))
      if (auto reduce = dyn_cast<AllReduceOp>(op.getOperation()))
        write(reduce, collective);
  }

private:
  static void write(AllReduceOp op, const layers::Collective &collective) {
    op.setAlgorithm(Algorithm(collective.algorithm));
    if (const std::optional<layers::Hierarchy> &hosts = collective.hierarchy; hosts && !op.getHierarchy())
      op.setHierarchyAttr(HierarchyAttr::get(op.getContext(), hosts->local,
                                             getCodecAttr(op.getContext(), hosts->intraHost),
                                             Leaders(hosts->leaders)));
  }
};

} // namespace
} // namespace cgx
