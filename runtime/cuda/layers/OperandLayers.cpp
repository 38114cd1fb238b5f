//===-- OperandLayers.cpp - Operands as layers of kernels -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/layers/OperandLayers.h"

#include "collective/WideReduction.h"

namespace cgx {

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

cuda::ReduceLayer reduceLayer(const Execution &execution, const OperandInfo &operand, uint64_t elements,
                              uint32_t divisor, std::byte *output) {
  return {.codec = operand.codec,
          .type = operand.type,
          .elements = elements,
          .contributions = {},
          .divisor = divisor,
          .reduction = kernelReduceOp(execution.collective.reduction),
          .output = output};
}

} // namespace cgx
