//===-- ReuseGathers.h - Gathers that replace others -----------*- C++ -*-===//
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

/// The number of other gathers of the same value that an all-gather replaces, as i64.
inline constexpr llvm::StringLiteral kReusesAttrName = "cgx.reuses";

/// The number of these that are in later loops, and the number of its values, of one trip each, that are kept
/// for them, as i64.
inline constexpr llvm::StringLiteral kLoopReusesAttrName = "cgx.loop_reuses",
                                     kKeptTripsAttrName = "cgx.kept_trips";

/// Returns one of these numbers; 0 where there is none.
inline int64_t getReuses(mlir::Operation *op, llvm::StringRef name = kReusesAttrName) {
  auto reuses = op->getAttrOfType<mlir::IntegerAttr>(name);
  return reuses ? reuses.getInt() : 0;
}

/// Returns the largest size of the payloads of an all-gather's operand, of all ranks of a group together.
uint64_t getKeptPayloadBytes(CollectiveOpInterface op, unsigned operand);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_REUSEGATHERS_H
