//===-- CudaError.h - What CUDA says, as an Outcome -------------*- C++ -*-===//
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
  // CUDA keeps it until somebody asks: what is reported here is not what a later launch went wrong with.
  (void)cudaGetLastError();
  return {std::string("CUDA: ") + what + ": " + cudaGetErrorString(error)};
}

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_GROUP_CUDAERROR_H
