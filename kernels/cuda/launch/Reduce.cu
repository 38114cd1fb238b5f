//===-- Reduce.cu - Adding payloads up on a GPU ---------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"
#include "ReduceGroup.h"

namespace cgx::cuda {

std::unique_ptr<Group> makeReduceGroup(std::span<const ReduceLayer> layers, Outcome &outcome) {
  outcome = availability();
  return outcome.ok() ? makeReduceGroupOn<CudaBackend>(layers, outcome) : nullptr;
}

} // namespace cgx::cuda
