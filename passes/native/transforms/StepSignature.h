//===-- StepSignature.h - How main looks on its way down -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// Passes before cgx-destination-passing see main as imported. After it, main takes
//
//     (context: i64, argument buffers..., result buffers..., [scratch: memref<Nxi8>])
//
// and returns nothing; cgx-plan-memory adds the scratch.
//
//===----------------------------------------------------------------------------===//
#ifndef CGX_PASSES_NATIVE_TRANSFORMS_STEPSIGNATURE_H
#define CGX_PASSES_NATIVE_TRANSFORMS_STEPSIGNATURE_H

#include "cgx/Passes/Manifest.h"

namespace cgx {

/// On main: how many of its buffers are arguments; on the LLVM function too.
inline constexpr llvm::StringLiteral argumentCountAttrName = "cgx_rt.argument_count";
/// On main: bytes of its scratch memory.
inline constexpr llvm::StringLiteral scratchBytesAttrName = "cgx_rt.scratch_bytes";

} // namespace cgx

#endif // CGX_PASSES_NATIVE_TRANSFORMS_STEPSIGNATURE_H
