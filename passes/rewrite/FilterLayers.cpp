//===-- FilterLayers.cpp - Operands that must stay uncompressed -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of cgx/layers/FilterLayers.h. This file adds the facts that only the program has: which
// vectors hold several parameters.

#include "cgx/layers/FilterLayers.h"
#include "cgx/Passes/LayerTable.h"
#include "cgx/Passes/RaveledParameters.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace cgx {
#define GEN_PASS_DEF_FILTERLAYERSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct FilterLayers : impl::FilterLayersPassBase<FilterLayers> {
  using FilterLayersPassBase::FilterLayersPassBase;

  void runOnOperation() override {
    LayerTable program(getOperation());
    llvm::MapVector<Operation *, RaveledParameters> raveled; // of each step that has vectors
    program.table.raveledRank = [&](const layers::Collective &collective, const layers::Operand &operand) {
      auto step = program.getOp(collective)->getParentOfType<func::FuncOp>();
      if (!step)
        return std::optional<int64_t>();
      auto known = raveled.find(step);
      if (known == raveled.end())
        known = raveled.insert({step, RaveledParameters(step)}).first;
      return known->second.getRank(operand.layer.name);
    };
    layers::Diagnostics diagnostics;
    const bool isFiltered = layers::filterLayers(program.table, getFilter(), diagnostics);
    emitAt(getOperation(), diagnostics);
    if (!isFiltered)
      return signalPassFailure();
    program.writeBack();
  }

private:
  layers::FilterOptions getFilter() const {
    return {{kinds.begin(), kinds.end()}, {exclude.begin(), exclude.end()}, plan, minElements, minRank};
  }
};

} // namespace
} // namespace cgx
