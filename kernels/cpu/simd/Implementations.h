//===-- Implementations.h - The implementations in vectors ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_SIMD_IMPLEMENTATIONS_H
#define CGX_KERNELS_CPU_SIMD_IMPLEMENTATIONS_H

#include "cgx/kernels/implementation.h"

namespace cgx {

/// Returns the implementations of this build, the best first. This machine may not support all of them.
std::span<const Implementation *const> simdImplementations();

} // namespace cgx

#endif // CGX_KERNELS_CPU_SIMD_IMPLEMENTATIONS_H
