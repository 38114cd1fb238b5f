//===-- CudaBenchmark.h - Speed of the codecs on a GPU -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_BENCHMARK_CUDABENCHMARK_H
#define CGX_KERNELS_BENCHMARK_CUDABENCHMARK_H

namespace cgx {

/// Prints the table of `cgx-codec-bench --device cuda` and returns the exit status, which is 1 without a GPU.
int runCudaBenchmark(bool all);

} // namespace cgx

#endif // CGX_KERNELS_BENCHMARK_CUDABENCHMARK_H
