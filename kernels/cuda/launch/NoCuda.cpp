//===-- NoCuda.cpp - The same library, built without CUDA -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/kernels/cuda_lowrank.h"
#include "cgx/kernels/cuda_memory.h"

namespace cgx::cuda {

Outcome availability() { return {"no CUDA device: this build has no kernels for GPUs (CGX_CUDA)"}; }

std::unique_ptr<Group> makeEncodeGroup(std::span<const EncodeLayer>, Outcome &outcome) {
  outcome = availability();
  return nullptr;
}
std::unique_ptr<Group> makeOwnerGroup(std::span<const OwnerLayer>, Outcome &outcome) {
  outcome = availability();
  return nullptr;
}
std::unique_ptr<Group> makeReduceGroup(std::span<const ReduceLayer>, Outcome &outcome) {
  outcome = availability();
  return nullptr;
}
std::unique_ptr<Group> makeDecodeGroup(std::span<const DecodeLayer>, Outcome &outcome) {
  outcome = availability();
  return nullptr;
}
std::unique_ptr<Group> makeAccumulateGroup(std::span<const DecodeLayer>, Outcome &outcome) {
  outcome = availability();
  return nullptr;
}
std::unique_ptr<LowrankGroup> makeLowrankGroup(std::span<const LowrankLayer>, Outcome &outcome) {
  outcome = availability();
  return nullptr;
}
Outcome advanceStep(Stream, StepState *) { return availability(); }

MemoryKind memoryKindOf(const void *) { return MemoryKind::host; }
Outcome Memory::allocate(MemoryKind, uint64_t) { return availability(); }
void Memory::release() {}
Outcome copy(void *, const void *, uint64_t, Stream) { return availability(); }
Outcome copyRows(const RowCopy &, Stream) { return availability(); }
Outcome clear(void *, uint64_t, Stream) { return availability(); }
Outcome waitFor(Stream) { return availability(); }
Outcome makeStream(Stream &) { return availability(); }
void destroyStream(Stream) {}
Outcome timeOn(Stream, const std::function<Outcome()> &, double &) { return availability(); }
Outcome replayGraph(Stream, uint32_t, const std::function<Outcome()> &) { return availability(); }

} // namespace cgx::cuda
