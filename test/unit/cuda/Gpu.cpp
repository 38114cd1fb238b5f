//===-- Gpu.cpp - A GPU, as a device of the tests -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Devices.h"

#include <algorithm>
#include <stdexcept>

namespace cgx::test {
namespace {

void require(const cuda::Outcome &outcome) {
  if (!outcome.ok())
    throw std::runtime_error(outcome.error);
}

class Gpu final : public Device {
public:
  Gpu() {
    makeEncode = cuda::makeEncodeGroup;
    makeOwner = cuda::makeOwnerGroup;
    makeReduce = cuda::makeReduceGroup;
    makeDecode = cuda::makeDecodeGroup;
    makeAccumulate = cuda::makeAccumulateGroup;
    makeLowrank = cuda::makeLowrankGroup;
  }

  const char *name() const override { return "gpu"; }
  cuda::Outcome availability() const override { return cuda::availability(); }

  void *place(std::span<const uint8_t> bytes) override {
    cuda::Memory &memory = blocks.emplace_back();
    require(memory.allocate(cuda::MemoryKind::device, std::max<uint64_t>(1, bytes.size()))); // never null
    overwrite(memory.get(), bytes);
    return memory.get();
  }

  void overwrite(void *memory, std::span<const uint8_t> bytes) override {
    require(cuda::copy(memory, bytes.data(), bytes.size(), nullptr));
    require(cuda::waitFor(nullptr));
  }

  std::vector<uint8_t> fetch(const void *memory, uint64_t bytes) override {
    std::vector<uint8_t> fetched(bytes);
    require(cuda::copy(fetched.data(), memory, bytes, nullptr));
    require(cuda::waitFor(nullptr));
    return fetched;
  }

private:
  std::vector<cuda::Memory> blocks;
};

} // namespace

std::unique_ptr<Device> makeGpu() { return std::make_unique<Gpu>(); }

} // namespace cgx::test
