//===-- BoundTensors.cpp - Optimizer tensors where codecs read them -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/state/BoundTensors.h"

#include "cgx/kernels/cuda_peers.h"
#include "cuda/stream/DeviceStatus.h"
#include "cuda/stream/StreamWait.h"

#include <algorithm>

namespace cgx {

static bool isBoundOnDevice(const KeptTensor &tensor) {
  return tensor.elements && isOnDevice(tensor.elements);
}

bool BoundTensors::areOnDevice(const Execution &execution) {
  return std::any_of(execution.states.begin(), execution.states.end(), [](const OperandState &state) {
    return std::any_of(state.kept.begin(), state.kept.end(), isBoundOnDevice);
  });
}

Status BoundTensors::copy(const Execution &execution, KeptTensor &tensor, uint64_t elements, bool toDevice,
                          cuda::Memory &memory, cuda::Stream stream) {
  if (cuda::isCapturing(stream))
    return Status(CGX_UNSUPPORTED, "expected what an optimizer keeps in the memory of the GPU in a graph");
  // CUDA waits for the stream when it copies memory that is not pinned, without noticing that ranks are gone.
  if (Status status = waitForStream(execution.transport, execution.timeout, stream); !status.ok())
    return status;
  const uint64_t bytes = elements * cgx_element_bytes(tensor.type);
  if (memory.bytes() < bytes)
    if (Status status =
            statusOf(memory.allocate(toDevice ? cuda::MemoryKind::device : cuda::MemoryKind::pinned, bytes));
        !status.ok())
      return status;
  const void *from = tensor.elements;
  tensor.elements = memory.get();
  return statusOf(cuda::copy(memory.get(), from, bytes, stream));
}

Result<bool> BoundTensors::bring(const Execution &execution, bool toDevice, cuda::Stream stream) {
  const size_t count = execution.collective.operands.size();
  bool isElsewhere = brought.size() != count;
  brought.resize(count);
  copies.resize(std::max(copies.size(), count));
  for (size_t i = 0; i < count; ++i) {
    const OperandInfo &operand = execution.collective.operands[i];
    for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept) {
      KeptTensor tensor = operand.needs(kept) ? execution.states[i].kept[kept] : KeptTensor();
      if (tensor.elements && kept < CGX_KEPT_TENSORS) // it has one value for each element of the operand
        tensor.elements =
            static_cast<const std::byte *>(tensor.elements) + operand.first * cgx_element_bytes(tensor.type);
      if (tensor.elements && isBoundOnDevice(tensor) != toDevice)
        if (Status status = copy(execution, tensor, cgx_kept_elements(kept, operand.elements), toDevice,
                                 copies[i][kept], stream);
            !status.ok())
          return status;
      KeptTensor &last = brought[i].kept[kept];
      isElsewhere = isElsewhere || last.elements != tensor.elements || last.type != tensor.type;
      last = tensor;
    }
  }
  return isElsewhere;
}

} // namespace cgx
