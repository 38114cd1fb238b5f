//===-- Identity.h - Exact payloads: raw elements ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CPU_IDENTITY_H
#define CGX_KERNELS_CPU_IDENTITY_H

#include "cgx/codec.h"

namespace cgx {

/// Rounds f32 to `type` (f32, f16, bf16), to nearest even.
void roundFromF32(cgx_element_type type, const float *input, uint64_t elements, void *output);

/// accumulator[i] += input[i], widened from `type` (f32, f16, bf16).
void accumulateAsF32(cgx_element_type type, const void *input, uint64_t elements, float *accumulator);

} // namespace cgx

#endif // CGX_KERNELS_CPU_IDENTITY_H
