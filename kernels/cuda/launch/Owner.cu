//===-- Owner.cu - The fused step of a chunk's owner on a GPU -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"
#include "OwnerGroup.h"

namespace cgx::cuda {

std::unique_ptr<Group> makeOwnerGroup(std::span<const OwnerLayer> layers, Outcome &outcome) {
  outcome = availability();
  return outcome.ok() ? makeOwnerGroupOn<CudaBackend>(layers, outcome) : nullptr;
}

} // namespace cgx::cuda
