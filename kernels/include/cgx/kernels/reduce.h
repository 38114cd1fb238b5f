//===-- reduce.h - Uncompressed reductions of typed buffers ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These compute accumulator[i] = accumulator[i] op input[i], for uncompressed collectives. f16 and bf16
// compute in f32 and round to nearest even each time; integers wrap; on booleans sum and max are `or`,
// product and min are `and`. Max and min propagate NaNs.
#ifndef CGX_KERNELS_REDUCE_H
#define CGX_KERNELS_REDUCE_H

#include "cgx/codec.h"

namespace cgx {

enum class ReduceOp { sum, max, min, product };

void reduce(ReduceOp reduction, cgx_element_type type, void *accumulator, const void *input,
            uint64_t elements);

/// Scales elements, data[i] *= factor, the last step of a mean. `factor` is rounded to f32 first for the
/// 16-bit types and f32. `type` is a floating-point type.
void scaleElements(cgx_element_type type, void *data, uint64_t elements, double factor);

} // namespace cgx

#endif // CGX_KERNELS_REDUCE_H
