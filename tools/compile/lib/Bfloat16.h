//===-- Bfloat16.h - Rounding to bf16 where libgcc has none -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_COMPILE_LIB_BFLOAT16_H
#define CGX_COMPILE_LIB_BFLOAT16_H

#include "llvm/IR/Module.h"

namespace cgx::compile {

/// Defines the functions that LLVM calls to round a number to bf16 on processors without an instruction for
/// it, `__truncsfbf2` (from f32) and `__truncdfbf2` (from f64), in a module that has numbers of that type.
/// libgcc has them from GCC 13 on, and Debian 12 has GCC 12. They round to nearest, ties to even, and keep a
/// NaN.
void defineRoundingToBfloat16(llvm::Module &module);

} // namespace cgx::compile

#endif // CGX_COMPILE_LIB_BFLOAT16_H
