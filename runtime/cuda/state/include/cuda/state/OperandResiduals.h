//===-- OperandResiduals.h - The residuals of an operand on a GPU -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CUDA_STATE_OPERANDRESIDUALS_H
#define CGX_RUNTIME_CUDA_STATE_OPERANDRESIDUALS_H

#include "cuda/state/DeviceResidual.h"

#include <optional>

namespace cgx {

/// The residuals of one operand: one for each phase in which its encoding is lossy.
struct OperandResiduals {
  std::optional<DeviceResidual> contribution, result;

  const DeviceResidual *of(uint32_t phase) const {
    const std::optional<DeviceResidual> &residual = phase == kContribution ? contribution : result;
    return residual ? &*residual : nullptr;
  }

  /// Copies the host's residuals, if the operand has error feedback.
  Status make(const OperandInfo &operand, OperandState &state, cuda::Stream stream);

  /// Copies them to the host, once the stream is there.
  Status fetch(cuda::Stream stream) const;
};

} // namespace cgx

#endif // CGX_RUNTIME_CUDA_STATE_OPERANDRESIDUALS_H
