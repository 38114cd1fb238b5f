//===-- StepOnDevice.cpp - The state of random numbers on a GPU -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/stream/StepOnDevice.h"

#include "cgx/kernels/cuda_peers.h"
#include "cuda/stream/DeviceStatus.h"

namespace cgx {

Status StepOnDevice::make() {
  for (auto [memory, kind] :
       {std::pair(&state, cuda::MemoryKind::device), {&onHost, cuda::MemoryKind::pinned}})
    if (Status status = statusOf(memory->allocate(kind, sizeof(cuda::StepState))); !status.ok())
      return status;
  return Status();
}

Status StepOnDevice::put(const Execution &execution, cuda::Stream stream) const {
  // Replays of a graph count the steps on the GPU.
  if (cuda::isCapturing(stream))
    return statusOf(cuda::advanceStep(stream, state.get<cuda::StepState>()));
  // Operands of a collective are exchanged together, so their counts are equal.
  const uint64_t runs = execution.states.empty() ? 0 : execution.states[0].runs;
  return put({execution.seed, execution.step, runs}, stream);
}

Status StepOnDevice::put(const cuda::StepState &now, cuda::Stream stream) const {
  *onHost.get<cuda::StepState>() = now;
  return statusOf(cuda::copy(state.get(), onHost.get(), sizeof(cuda::StepState), stream));
}

} // namespace cgx
