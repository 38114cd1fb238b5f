//===-- KeepRoundings.cpp - Each operation of f16 and bf16 rounds -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_KEEPROUNDINGSPASS
#include "cgx/Passes/Native.h.inc"

namespace {

template <typename OpTy> void forbidContraction(OpTy op) {
  if (std::optional<arith::FastMathFlags> flags = op.getFastmath())
    op.setFastmath(arith::bitEnumClear(*flags, arith::FastMathFlags::contract));
}

struct KeepRoundingsPass : impl::KeepRoundingsPassBase<KeepRoundingsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto narrow = dyn_cast<arith::TruncFOp>(op))
        forbidContraction(narrow);
      else if (auto wide = dyn_cast<arith::ExtFOp>(op))
        forbidContraction(wide);
    });
  }
};

} // namespace
} // namespace cgx
