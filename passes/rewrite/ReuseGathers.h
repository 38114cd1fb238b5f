//===-- ReuseGathers.h - Gathers that stand for others ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_REUSEGATHERS_H
#define CGX_PASSES_REWRITE_REUSEGATHERS_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace cgx {

/// How many other gathers of the same value an all-gather stands for, as i64.
inline constexpr llvm::StringLiteral kReusesAttrName = "cgx.reuses";

/// How many of these are in later loops, and how many of its values, of one trip each, are kept for them, as
/// i64.
inline constexpr llvm::StringLiteral kLoopReusesAttrName = "cgx.loop_reuses",
                                     kKeptTripsAttrName = "cgx.kept_trips";

/// One of these numbers; 0 where there is none.
inline int64_t getReuses(mlir::Operation *op, llvm::StringRef name = kReusesAttrName) {
  auto reuses = op->getAttrOfType<mlir::IntegerAttr>(name);
  return reuses ? reuses.getInt() : 0;
}

/// Bytes of the payloads of an all-gather's operand, of all ranks of a group; the most that they can be.
uint64_t getKeptPayloadBytes(CollectiveOpInterface op, unsigned operand);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_REUSEGATHERS_H
