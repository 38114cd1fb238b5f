//===-- OperandResiduals.cpp - The residuals of an operand on a GPU -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/state/OperandResiduals.h"

namespace cgx {

Status OperandResiduals::make(const OperandInfo &operand, OperandState &state, cuda::Stream stream) {
  if (!operand.errorFeedback)
    return Status();
  for (auto [phase, onDevice, onHost] :
       {std::tuple(kContribution, &contribution, &state.contribution), {kResult, &result, &state.result}})
    if (*onHost && operand.codecOf(phase).family != CGX_CODEC_IDENTITY)
      if (Status status = onDevice->emplace().make(**onHost, stream); !status.ok())
        return status;
  return Status();
}

Status OperandResiduals::fetch(cuda::Stream stream) const {
  for (const DeviceResidual *residual : {of(kContribution), of(kResult)})
    if (residual)
      if (Status status = residual->fetch(stream); !status.ok())
        return status;
  return Status();
}

} // namespace cgx
