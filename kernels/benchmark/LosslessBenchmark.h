//===-- LosslessBenchmark.h - Lossless against archivers --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_BENCHMARK_LOSSLESSBENCHMARK_H
#define CGX_KERNELS_BENCHMARK_LOSSLESSBENCHMARK_H

#include "cgx/kernels/implementation.h"

namespace cgx {

/// Prints size and speed of the codec lossless, of the entropy of exponents, and of the archivers that the
/// build found, on bell-shaped f32 of which 30 % are zero.
int benchmarkLossless(const Implementation &with);

} // namespace cgx

#endif // CGX_KERNELS_BENCHMARK_LOSSLESSBENCHMARK_H
