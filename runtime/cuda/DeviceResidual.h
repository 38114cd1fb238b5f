//===-- DeviceResidual.h - A residual where its operand is ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Error feedback of what a GPU encodes is computed there, by the encoding itself. The residual of the host is
// what is saved and restored: it is where the one on the GPU begins, and becomes equal to it when it is
// fetched.
#ifndef CGX_RUNTIME_CUDA_DEVICERESIDUAL_H
#define CGX_RUNTIME_CUDA_DEVICERESIDUAL_H

#include "cgx/kernels/cuda_memory.h"
#include "collective/AllReduce.h"

namespace cgx {

class DeviceResidual {
public:
  /// Whether the residuals of an operand can be on a GPU: they keep all that it encodes, and, where elements
  /// share scales, each payload begins with such elements.
  static bool fit(const AllReduceOperand &operand, const OperandState &state);

  /// Takes what the host keeps, which must stay where it is.
  Status make(Residual &onHost, cuda::Stream stream);

  /// Of the elements from `first` on, for kernels.
  cuda::Feedback from(uint64_t first, float decay) const;

  /// Brings it to the host, once the stream is there.
  Status fetch(cuda::Stream stream) const;

private:
  Residual *kept = nullptr;
  cuda::Memory stored, scales;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_DEVICERESIDUAL_H
