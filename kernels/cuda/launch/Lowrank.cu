//===-- Lowrank.cu - Factors of matrices on a GPU -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"
#include "LowrankGroup.h"

namespace cgx::cuda {

std::unique_ptr<LowrankGroup> makeLowrankGroup(std::span<const LowrankLayer> layers, Outcome &outcome) {
  outcome = availability();
  return outcome.ok() ? makeLowrankGroupOn<CudaBackend>(layers, outcome) : nullptr;
}

} // namespace cgx::cuda
