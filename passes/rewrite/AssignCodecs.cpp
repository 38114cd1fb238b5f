//===-- AssignCodecs.cpp - Assigns codecs to operands ---------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of cgx/layers/AssignCodecs.h. This file adds the facts that only the program has: where
// rows of a table go.

#include "cgx/Passes/CodecOptions.h"
#include "cgx/Passes/LayerTable.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/Passes/ScatteredRows.h"

#include <optional>

namespace cgx {
#define GEN_PASS_DEF_ASSIGNCODECSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct AssignCodecs : impl::AssignCodecsPassBase<AssignCodecs> {
  using AssignCodecsPassBase::AssignCodecsPassBase;
  AssignCodecs(const AssignCodecs &other) : AssignCodecsPassBase(other) {}

  void runOnOperation() override {
    LayerTable program(getOperation());
    std::optional<ScatteredRows> rows; // once somebody asks
    program.table.movesRows = [&](const layers::Collective &collective, const layers::Operand &operand) {
      if (!rows)
        rows.emplace(getOperation());
      const auto number = &operand - collective.operands.data();
      return llvm::any_of(rows->getSums(program.getOp(collective).getResultTensors()[number]),
                          [](const ScatteredRows::Sum &sum) { return sum.movesPlaces; });
    };
    layers::Diagnostics diagnostics;
    const bool isAssigned = layers::assignCodecs(program.table, getCodecs(), diagnostics);
    emitAt(getOperation(), diagnostics);
    if (!isAssigned)
      return signalPassFailure();
    program.writeBack();
  }

  KindCodecOptions<Option<std::string>, Pass> codecsOfKinds{*this};

private:
  layers::CodecOptions getCodecs() const {
    layers::CodecOptions options;
    options.codec = parameters.addTo(codec.getValue());
    options.backCodec = backCodec;
    options.errorFeedback = errorFeedback;
    options.decay = decay;
    options.ofKinds = codecsOfKinds.get();
    options.along = along;
    options.plan = plan;
    return options;
  }

  CodecParameterOptions<Option<std::string>, Option<bool>, Pass> parameters{*this};
};

} // namespace

std::unique_ptr<Pass> createAssignCodecsPass(const AssignCodecsPassOptions &options,
                                             const layers::KindCodecs &ofKinds) {
  auto pass = std::make_unique<AssignCodecs>(options);
  pass->codecsOfKinds.set(ofKinds);
  return pass;
}

} // namespace cgx
