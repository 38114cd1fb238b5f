//===-- DeviceResidual.cpp - Residuals in the memory of a GPU -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/state/DeviceResidual.h"

#include "cuda/stream/DeviceStatus.h"

namespace cgx {

bool DeviceResidual::keeps(const std::optional<Residual> &residual, uint64_t first, uint64_t elements) {
  if (!residual || elements == 0)
    return residual.has_value();
  return first >= residual->firstElement() && first + elements <= residual->endElement() &&
         (residual->kind() != ResidualStorage::Int8 ||
          (first - residual->firstElement()) % residualBlock == 0);
}

/// Returns true if elements that share scales begin where payloads of pieces do.
static bool arePiecesBlocks(const OperandInfo &info) {
  return info.errorFeedback->storage != ResidualStorage::Int8 ||
         (cgx_piece_elements(&info.codec) % residualBlock == 0 &&
          cgx_piece_elements(&info.codecOf(kResult)) % residualBlock == 0);
}

bool DeviceResidual::fitWhole(const OperandInfo &operand) {
  return operand.isUncompressed() || arePiecesBlocks(operand);
}

bool DeviceResidual::fit(const AllReduceOperand &operand, const OperandState &state) {
  const OperandInfo &info = operand.codec.info();
  const uint32_t self = operand.execution.self();
  if (info.isUncompressed()) // nothing is encoded
    return true;
  if (state.chunkAlignment != cgx_chunk_alignment(&info.codec) ||
      !keeps(state.contribution, 0, info.elements) ||
      !keeps(state.result, operand.chunks.begin(self), operand.chunks.size(self)))
    return false;
  return arePiecesBlocks(info) && (info.errorFeedback->storage != ResidualStorage::Int8 ||
                                   cgx_chunk_alignment(&info.codec) % residualBlock == 0);
}

Status DeviceResidual::make(Residual &onHost, cuda::Stream stream) {
  kept = &onHost;
  if (Status status = stored.make(kept->stored(), stream); !status.ok())
    return status;
  return scales.make(std::as_writable_bytes(kept->storedScales()), stream);
}

cuda::Feedback DeviceResidual::from(uint64_t first, float decay) const {
  const uint64_t offset = first - kept->firstElement();
  const uint64_t size = kept->kind() == ResidualStorage::F32    ? sizeof(float)
                        : kept->kind() == ResidualStorage::Bf16 ? sizeof(uint16_t)
                                                                : sizeof(int8_t);
  return {.storage = kept->kind(),
          .decay = decay,
          .residual = stored.get<std::byte>() + offset * size,
          .scales = scales.get<float>() ? scales.get<float>() + offset / residualBlock : nullptr};
}

Status DeviceResidual::fetch(cuda::Stream stream) const {
  if (Status status = stored.fetch(stream); !status.ok())
    return status;
  return scales.fetch(stream);
}

} // namespace cgx
