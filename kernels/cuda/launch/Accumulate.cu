//===-- Accumulate.cu - Accumulating on a GPU -----------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"
#include "DecodeGroup.h"

namespace cgx::cuda {

std::unique_ptr<Group> makeAccumulateGroup(std::span<const DecodeLayer> layers, Outcome &outcome) {
  outcome = availability();
  return outcome.ok() ? makeDecodeGroupOn<Sink::add, CudaBackend>(layers, outcome) : nullptr;
}

} // namespace cgx::cuda
