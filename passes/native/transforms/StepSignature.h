//===-- StepSignature.h - The signature of main during lowering -*- C++ -*-===//
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

/// An attribute of main, and of the LLVM function: the number of its buffers that are arguments.
inline constexpr llvm::StringLiteral argumentCountAttrName = "cgx_rt.argument_count";
/// An attribute of main: the bytes of its scratch memory.
inline constexpr llvm::StringLiteral scratchBytesAttrName = "cgx_rt.scratch_bytes";

} // namespace cgx

#endif // CGX_PASSES_NATIVE_TRANSFORMS_STEPSIGNATURE_H
