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

/// Defines what LLVM calls to round a number to bf16 on processors without an instruction for it,
/// `__truncsfbf2` (of f32) and `__truncdfbf2` (of f64), in a module that has numbers of that type. libgcc has
/// them from GCC 13 on; Debian 12 has GCC 12. To nearest, ties to even; a NaN stays one.
void defineRoundingToBfloat16(llvm::Module &module);

} // namespace cgx::compile

#endif // CGX_COMPILE_LIB_BFLOAT16_H
