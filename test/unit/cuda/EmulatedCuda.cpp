//===-- EmulatedCuda.cpp - A GPU that is this machine's processor ---------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of cuda.h and cuda_memory.h on HostEngine: linked into a test, they take the place of those
// of the library, and what is built on them runs as it would with a GPU. Streams do at once what is put on
// them.

#include "DecodeGroup.h"
#include "EncodeGroup.h"
#include "HostEngine.h"

#include "cgx/kernels/cuda_memory.h"

#include <cstdlib>
#include <map>
#include <mutex>

namespace cgx::cuda {
namespace {

struct Block {
  uint64_t bytes;
  MemoryKind kind;
};
std::mutex mutex;
std::map<uintptr_t, Block> blocks; ///< by address

} // namespace

Outcome availability() { return {}; }

std::unique_ptr<Group> makeEncodeGroup(std::span<const EncodeLayer> layers, Outcome &outcome) {
  return makeEncodeGroupOn<HostEngine>(layers, outcome);
}
std::unique_ptr<Group> makeOwnerGroup(std::span<const OwnerLayer> layers, Outcome &outcome) {
  return makeOwnerGroupOn<HostEngine>(layers, outcome);
}
std::unique_ptr<Group> makeDecodeGroup(std::span<const DecodeLayer> layers, Outcome &outcome) {
  return makeDecodeGroupOn<Sink::store, HostEngine>(layers, outcome);
}
std::unique_ptr<Group> makeAccumulateGroup(std::span<const DecodeLayer> layers, Outcome &outcome) {
  return makeDecodeGroupOn<Sink::add, HostEngine>(layers, outcome);
}

MemoryKind memoryKindOf(const void *pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const std::lock_guard lock(mutex);
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin())
    return MemoryKind::host;
  --next;
  return address < next->first + next->second.bytes ? next->second.kind : MemoryKind::host;
}

Outcome Memory::allocate(MemoryKind ofKind, uint64_t bytes) {
  Memory before = std::move(*this);
  address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  kind = ofKind;
  size = bytes;
  const std::lock_guard lock(mutex);
  blocks[reinterpret_cast<uintptr_t>(address)] = {bytes, ofKind};
  return {};
}

Memory::~Memory() {
  if (!address)
    return;
  const std::lock_guard lock(mutex);
  blocks.erase(reinterpret_cast<uintptr_t>(address));
  std::free(address);
}

Outcome copy(void *to, const void *from, uint64_t bytes, Stream) {
  std::memcpy(to, from, bytes);
  return {};
}
Outcome waitFor(Stream) { return {}; }

} // namespace cgx::cuda
