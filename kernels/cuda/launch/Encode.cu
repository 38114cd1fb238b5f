//===-- Encode.cu - Encoding on a GPU -------------------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"
#include "EncodeGroup.h"

namespace cgx::cuda {

std::unique_ptr<Group> makeEncodeGroup(std::span<const EncodeLayer> layers, Outcome &outcome) {
  outcome = availability();
  return outcome.ok() ? makeEncodeGroupOn<CudaBackend>(layers, outcome) : nullptr;
}

static __global__ void addStep(StepState *state) { ++state->step; }

Outcome advanceStep(Stream stream, StepState *state) {
  if (Outcome outcome = availability(); !outcome.ok())
    return outcome;
  addStep<<<1, 1, 0, stream>>>(state);
  return outcomeOf(cudaGetLastError(), "launching a kernel");
}

} // namespace cgx::cuda
