//===-- ExpandCopies.cpp - Strided copies as loops --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_EXPANDCOPIESPASS
#include "cgx/Passes/Native.h.inc"

namespace {

bool isDense(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return type && type.getLayout().isIdentity();
}

struct ExpandCopiesPass : impl::ExpandCopiesPassBase<ExpandCopiesPass> {
  void runOnOperation() override {
    getOperation().walk([](memref::CopyOp copy) {
      if (copy.getSource() == copy.getTarget())
        return copy.erase();
      if (isDense(copy.getSource()) && isDense(copy.getTarget()))
        return;
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    });
  }
};

} // namespace
} // namespace cgx
