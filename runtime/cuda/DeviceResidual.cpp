//===-- DeviceResidual.cpp - A residual where its operand is --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceResidual.h"

#include "cuda/DeviceUse.h"

namespace cgx {

/// Whether a residual has these elements, and blocks of its scales begin with the first one.
static bool has(const Residual &residual, uint64_t first, uint64_t elements) {
  if (elements == 0)
    return true;
  return first >= residual.firstElement() && first + elements <= residual.endElement() &&
         (residual.kind() != ResidualStorage::Int8 || (first - residual.firstElement()) % residualBlock == 0);
}

bool DeviceResidual::fit(const AllReduceOperand &operand, const OperandState &state) {
  const OperandInfo &info = operand.codec.info();
  const uint32_t self = operand.execution.self();
  if (!state.contribution || !state.result || !has(*state.contribution, 0, info.elements) ||
      !has(*state.result, operand.chunks.begin(self), operand.chunks.size(self)))
    return false;
  return info.errorFeedback->storage != ResidualStorage::Int8 ||
         (cgx_chunk_alignment(&info.codec) % residualBlock == 0 &&
          cgx_piece_elements(&info.codec) % residualBlock == 0);
}

Status DeviceResidual::make(Residual &onHost, cuda::Stream stream) {
  kept = &onHost;
  for (auto [memory, bytes] : {std::pair(&stored, std::span<const std::byte>(kept->stored())),
                               {&scales, std::as_bytes(kept->storedScales())}}) {
    if (bytes.empty())
      continue;
    if (Status status = statusOf(memory->allocate(cuda::MemoryKind::device, bytes.size())); !status.ok())
      return status;
    if (Status status = statusOf(cuda::copy(memory->get(), bytes.data(), bytes.size(), stream)); !status.ok())
      return status;
  }
  return Status();
}

cuda::Feedback DeviceResidual::from(uint64_t first, float decay) const {
  const uint64_t offset = first - kept->firstElement();
  const uint64_t size = kept->kind() == ResidualStorage::F32    ? sizeof(float)
                        : kept->kind() == ResidualStorage::Bf16 ? sizeof(uint16_t)
                                                                : sizeof(int8_t);
  return {.storage = kept->kind(),
          .decay = decay,
          .residual = stored.get<std::byte>() + offset * size,
          .scales = scales.get() ? scales.get<float>() + offset / residualBlock : nullptr};
}

Status DeviceResidual::fetch(cuda::Stream stream) const {
  const std::span<std::byte> values = kept->stored();
  if (Status status = statusOf(cuda::copy(values.data(), stored.get(), values.size(), stream)); !status.ok())
    return status;
  const std::span<float> shared = kept->storedScales();
  return statusOf(cuda::copy(shared.data(), scales.get(), shared.size_bytes(), stream));
}

} // namespace cgx
