//===-- OperandResiduals.cpp - What an operand has lost, on a GPU ---------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/OperandResiduals.h"

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

cuda::EncodedLayer encodedLayer(const Execution &execution, const OperandInfo &operand,
                                const OperandResiduals &residuals, uint32_t phase, uint64_t first,
                                uint64_t elements, std::byte *payload) {
  const cgx_codec &codec = operand.codecOf(phase);
  const bool isShared = cgx_codec_shares_randomness(&codec);
  cuda::EncodedLayer layer = {.codec = codec,
                              .type = operand.type,
                              .elements = elements,
                              .firstElement = first,
                              .layerId = operand.layerId,
                              .rank = isShared ? 0 : execution.encoder,
                              .phase = isShared ? 0 : phase,
                              .payload = payload};
  if (const DeviceResidual *residual = residuals.of(phase))
    layer.feedback = residual->from(first, operand.errorFeedback->decay);
  return layer;
}

} // namespace cgx
