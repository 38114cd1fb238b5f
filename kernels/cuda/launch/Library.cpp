//===-- Library.cpp - The library's table of functions ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/cuda_library.h"

extern "C" {
[[gnu::visibility("default")]] extern const cgx::cuda::CudaLibrary cgx_cuda_library;
const cgx::cuda::CudaLibrary cgx_cuda_library = {CGX_VERSION};
}
