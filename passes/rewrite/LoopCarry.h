//===-- LoopCarry.h - Loops that carry one value more -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_LOOPCARRY_H
#define CGX_PASSES_REWRITE_LOOPCARRY_H

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

namespace cgx {

/// Returns the loop with one more carried value, the last, which begins as `initial` and is passed on
/// unchanged. It takes the regions of `loop`; the caller replaces the results of `loop`, and erases it.
stablehlo::WhileOp carryThroughLoop(stablehlo::WhileOp loop, mlir::Value initial);

} // namespace cgx

#endif // CGX_PASSES_REWRITE_LOOPCARRY_H
