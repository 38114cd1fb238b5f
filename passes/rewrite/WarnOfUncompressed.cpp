//===-- WarnOfUncompressed.cpp - Warns if little is compressed ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The messages are in cgx/layers/WarnOfUncompressed.h. This file adds the fact that only the program has:
// whether it trains.

#include "cgx/layers/WarnOfUncompressed.h"
#include "cgx/Passes/LayerTable.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace cgx {
#define GEN_PASS_DEF_WARNOFUNCOMPRESSEDPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct WarnOfUncompressed : impl::WarnOfUncompressedPassBase<WarnOfUncompressed> {
  using WarnOfUncompressedPassBase::WarnOfUncompressedPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    layers::Diagnostics diagnostics;
    layers::warnOfUncompressed(
        LayerTable(getOperation()).table, identity, [&] { return trains(); }, diagnostics);
    emitAt(getOperation(), diagnostics);
  }

private:
  /// Returns whether the step updates state, or, where no state is declared, returns a value of an argument's
  /// type: its next value, or a gradient.
  bool trains() {
    auto step = dyn_cast_or_null<FunctionOpInterface>(SymbolTable::lookupSymbolIn(getOperation(), "main"));
    if (!step || step.isExternal() || !step.getFunctionBody().hasOneBlock())
      return true;
    Block &body = step.getFunctionBody().front();
    bool hasState = false, returnsLike = false;
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      returnsLike |= type && type.getRank() > 0 && isa<FloatType>(type.getElementType()) &&
                     llvm::is_contained(body.getArgumentTypes(), type);
      auto feeds = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName);
      if (!feeds)
        continue;
      hasState = true;
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || argument.getOwner() != &body || argument.getArgNumber() != feeds.getInt())
        return true;
    }
    return !hasState && returnsLike;
  }
};

} // namespace
} // namespace cgx
