//===-- CudaError.h - Errors of CUDA as an Outcome --------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_GROUP_CUDAERROR_H
#define CGX_KERNELS_CUDA_GROUP_CUDAERROR_H

#include "cgx/kernels/cuda.h"

#include <cuda_runtime_api.h>

namespace cgx::cuda {

inline Outcome outcomeOf(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return {};
  // CUDA keeps an error until it is read. An error that is reported here must not be taken for that of a
  // later launch.
  (void)cudaGetLastError();
  return {std::string("CUDA: ") + what + ": " + cudaGetErrorString(error)};
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_CUDAERROR_H
