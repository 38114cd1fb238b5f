//===-- DeviceResidual.h - A residual where its operand is ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Error feedback of what a GPU encodes is computed there, by the encoding itself.
#ifndef CGX_RUNTIME_CUDA_STATE_DEVICERESIDUAL_H
#define CGX_RUNTIME_CUDA_STATE_DEVICERESIDUAL_H

#include "collective/AllReduce.h"
#include "cuda/state/DeviceCopy.h"

namespace cgx {

class DeviceResidual {
public:
  /// Whether the residuals of an operand can be on a GPU: they keep all that it encodes, and, where elements
  /// share scales, each payload begins with such elements. A plan that moves the ends of chunks makes some
  /// ranks keep less than they encode, and all say no.
  static bool fit(const AllReduceOperand &operand, const OperandState &state);

  /// The same of an operand that is one chunk, which no plan moves.
  static bool fitWhole(const OperandInfo &operand);

  /// Whether one keeps these elements, and blocks of its scales begin with the first of them.
  static bool keeps(const std::optional<Residual> &residual, uint64_t first, uint64_t elements);

  /// Takes what the host keeps, which must stay where it is.
  Status make(Residual &onHost, cuda::Stream stream);

  /// Of the elements from `first` on, for kernels.
  cuda::Feedback from(uint64_t first, float decay) const;

  /// Brings it to the host, once the stream is there.
  Status fetch(cuda::Stream stream) const;

private:
  Residual *kept = nullptr;
  DeviceCopy stored, scales;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STATE_DEVICERESIDUAL_H
