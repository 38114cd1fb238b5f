//===-- DeviceResidual.h - Residuals in the memory of a GPU -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Error feedback of encodings on a GPU is computed there, by the encoding kernel.
#ifndef CGX_RUNTIME_CUDA_STATE_DEVICERESIDUAL_H
#define CGX_RUNTIME_CUDA_STATE_DEVICERESIDUAL_H

#include "collective/AllReduce.h"
#include "cuda/state/DeviceCopy.h"

namespace cgx {

class DeviceResidual {
public:
  /// Returns true if the residuals of an operand can be on a GPU: they must cover all that it encodes, and if
  /// elements share scales, each payload must begin with such a block. After a plan that moves the ends of
  /// chunks some ranks cover less than they encode, and all return false.
  static bool fit(const AllReduceOperand &operand, const OperandState &state);

  /// Returns true if the residual of an operand that is one chunk, which no plan moves, can be on a GPU.
  static bool fitWhole(const OperandInfo &operand);

  /// Returns true if the residual covers these elements, and a block of its scales begins with the first of
  /// them.
  static bool keeps(const std::optional<Residual> &residual, uint64_t first, uint64_t elements);

  /// Copies the host's residual, which must not move.
  Status make(Residual &onHost, cuda::Stream stream);

  /// Returns the residual of the elements from `first` on, for kernels.
  cuda::Feedback from(uint64_t first, float decay) const;

  /// Copies it to the host, once the stream is there.
  Status fetch(cuda::Stream stream) const;

private:
  Residual *kept = nullptr;
  DeviceCopy stored, scales;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STATE_DEVICERESIDUAL_H
