//===-- Emulation.cpp - Kernel bodies on the CPU, as a device -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecodeGroup.h"
#include "Devices.h"
#include "HostEngine.h"
#include "LowrankGroup.h"
#include "OwnerGroup.h"

namespace cgx::test {
namespace {

using cuda::HostEngine;

class Emulation final : public Device {
public:
  Emulation() {
    makeEncode = cuda::makeEncodeGroupOn<HostEngine>;
    makeOwner = cuda::makeOwnerGroupOn<HostEngine>;
    makeDecode = cuda::makeDecodeGroupOn<cuda::Sink::store, HostEngine>;
    makeAccumulate = cuda::makeDecodeGroupOn<cuda::Sink::add, HostEngine>;
    makeLowrank = cuda::makeLowrankGroupOn<HostEngine>;
  }

  const char *name() const override { return "emulation"; }
  cuda::Outcome availability() const override { return {}; }

  // One block each, so that the address sanitizer sees an access past its end.
  void *place(std::span<const uint8_t> bytes) override {
    blocks.emplace_back(new (std::align_val_t{16}) uint8_t[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), blocks.back().get());
    return blocks.back().get();
  }

  void overwrite(void *memory, std::span<const uint8_t> bytes) override {
    std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t *>(memory));
  }

  std::vector<uint8_t> fetch(const void *memory, uint64_t bytes) override {
    const auto *begin = static_cast<const uint8_t *>(memory);
    return {begin, begin + bytes};
  }

private:
  struct Delete {
    void operator()(uint8_t *block) const { ::operator delete[](block, std::align_val_t{16}); }
  };
  std::vector<std::unique_ptr<uint8_t[], Delete>> blocks;
};

} // namespace

std::unique_ptr<Device> makeEmulation() { return std::make_unique<Emulation>(); }

} // namespace cgx::test
