//===-- collective/WideReduction.h - Reductions that round once --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 16-bit elements are reduced in f32 and rounded at the end: eight bf16 addends
// that are rounded after each addition lose most of their bits.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_COLLECTIVE_WIDEREDUCTION_H
#define CGX_RUNTIME_COLLECTIVE_WIDEREDUCTION_H

#include "cgx/kernels/reduce.h"
#include "manifest/Manifest.h"

#include <cstddef>
#include <span>

namespace cgx {

/// The kernels' reduction under a collective's: a mean is a sum, divided at the end.
ReduceOp kernelReduceOp(ReduceKind kind);

/// Reduces 16-bit elements, in the order of `inputs`; of a mean, their sum.
void reduceWide(ReduceKind kind, cgx_element_type type, std::span<const std::byte *const> inputs,
                uint64_t elements, float *output);

/// Rounds to a 16-bit type, to nearest even.
void narrow(cgx_element_type type, const float *input, uint64_t elements, std::byte *output);

/// data[i] / divisor, in the type (f32 or f64).
void divide(cgx_element_type type, std::byte *data, uint64_t elements, uint64_t divisor);

} // namespace cgx

#endif // CGX_RUNTIME_COLLECTIVE_WIDEREDUCTION_H
