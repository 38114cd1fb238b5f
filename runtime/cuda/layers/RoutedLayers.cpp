//===-- RoutedLayers.cpp - The layers of a routed collective --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/layers/RoutedLayers.h"

#include "cuda/layers/OperandLayers.h"
#include "cuda/stream/DeviceStatus.h"

namespace cgx {

bool hasKernels(const OperandInfo &operand) {
  const bool isFloat = operand.type == CGX_F32 || operand.type == CGX_F16 || operand.type == CGX_BF16;
  // On a GPU levels are fitted to each payload, so a plan's levels have no kernels.
  return isFloat && !operand.levels && cuda::checkCodec(operand.codec, operand.type).empty() &&
         cuda::checkCodec(operand.codecOf(kResult), operand.type).empty();
}

Status checkPayloads(cuda::Group &group, const std::vector<PayloadSender> &senders,
                     const CollectiveInfo &collective, cuda::Stream stream) {
  std::vector<DecodeError> errors;
  if (Status status = statusOf(group.results(stream, errors)); !status.ok())
    return status;
  for (size_t i = 0; i < errors.size(); ++i)
    if (errors[i] != DecodeError::ok)
      return Status::error(CGX_BAD_PAYLOAD, "layer '", collective.operands[senders[i].operand].layer,
                           "', payload of rank ", senders[i].rank, ": ", decodeErrorText(errors[i]));
  return Status();
}

cuda::EncodedLayer ListedOperand::encoded(uint32_t phase, uint64_t first, uint64_t elements,
                                          std::byte *payload) const {
  cuda::EncodedLayer layer = encodedLayer(execution, info(), residuals, phase, first, elements, payload);
  layer.optimizer = optimizer;
  return layer;
}

std::byte *RoutedLayers::takeDense(uint64_t bytes) {
  if (bytes == 0 || !outcome.ok())
    return nullptr;
  outcome = dense.emplace_back().allocate(cuda::MemoryKind::device, bytes);
  return dense.back().get<std::byte>();
}

} // namespace cgx
