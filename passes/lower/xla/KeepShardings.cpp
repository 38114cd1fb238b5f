//===-- KeepShardings.cpp - Records the caller's shardings of arguments -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "CallerSharding.h"
#include "cgx/Passes/CallerState.h"
#include "cgx/Passes/Xla.h"

#include "cgx/Dialect/Sdy/SdyDialect.h"
#include "cgx/Dialect/Stablehlo/MhloDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_KEEPSHARDINGSPASS
#include "cgx/Passes/Xla.h.inc"

namespace {

/// Returns a sharding that needs no symbol.
Attribute writeOutMesh(Attribute sharding, Operation *user) {
  auto named = dyn_cast<sdy::TensorShardingAttr>(sharding);
  sdy::MeshAttr mesh = named ? named.getMesh(user) : nullptr;
  if (!mesh)
    return sharding;
  return sdy::TensorShardingAttr::get(user->getContext(), mesh, named.getDimensions(),
                                      named.getReplicatedAxes(), named.getUnreducedAxes(),
                                      named.getReductionOp());
}

struct KeepShardingsPass : impl::KeepShardingsPassBase<KeepShardingsPass> {
  void runOnOperation() override {
    getOperation()->setAttr(kCallerKeepsStateAttrName, UnitAttr::get(&getContext()));
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isPrivate())
        continue;
      for (StringRef name : {sdy::kShardingAttrName, mhlo::kShardingAttrName}) {
        for (unsigned i = 0; i < function.getNumArguments(); ++i)
          if (Attribute sharding = function.getArgAttr(i, name))
            function.setArgAttr(i, kCallerShardingAttrName, writeOutMesh(sharding, function));
        for (unsigned i = 0; i < function.getNumResults(); ++i)
          if (Attribute sharding = function.getResultAttr(i, name))
            function.setResultAttr(i, kCallerShardingAttrName, writeOutMesh(sharding, function));
      }
    }
  }
};

} // namespace
} // namespace cgx
