//===-- BufferRange.cpp - The memory that a buffer may touch ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "BufferRange.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace cgx {

static bool isSeparate(Value root) {
  if (root.getDefiningOp<memref::GetGlobalOp>())
    return true;
  auto argument = dyn_cast<BlockArgument>(root);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName());
}

BufferRange BufferRange::of(Value buffer) {
  BufferRange range{buffer, 0, std::numeric_limits<int64_t>::max(), /*isRootSeparate=*/false};
  while (auto view = range.root.getDefiningOp<ViewLikeOpInterface>()) {
    range.root = view.getViewSource();
    auto part = dyn_cast<memref::ViewOp>(*view);
    std::optional<int64_t> shift = part ? getConstantIntValue(part.getByteShift()) : std::optional<int64_t>();
    // A part of a part: offsets would have to be added up, and cgx-plan-memory makes none.
    if (!shift || part.getSource().getDefiningOp() || !part.getType().hasStaticShape())
      continue;
    int64_t bytes = llvm::divideCeil(part.getType().getElementTypeBitWidth(), 8);
    range.begin = *shift;
    range.end = *shift + part.getType().getNumElements() * bytes;
  }
  range.isRootSeparate = isSeparate(range.root);
  return range;
}

bool BufferRange::isDisjointFrom(const BufferRange &other) const {
  if (root == other.root)
    return end <= other.begin || other.end <= begin;
  return isRootSeparate && other.isRootSeparate;
}

} // namespace cgx
