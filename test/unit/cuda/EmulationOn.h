//===-- EmulationOn.h - Kernel agents on the CPU, as a device ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_CUDA_EMULATIONON_H
#define CGX_TEST_UNIT_CUDA_EMULATIONON_H

#include "DecodeGroup.h"
#include "Devices.h"
#include "LowrankGroup.h"
#include "ReduceGroup.h"

namespace cgx::test {

/// A device whose memory is host memory.
template <typename Backend> class EmulationOn : public Device {
public:
  EmulationOn() {
    makeEncode = cuda::makeEncodeGroupOn<Backend>;
    makeOwner = cuda::makeOwnerGroupOn<Backend>;
    makeReduce = cuda::makeReduceGroupOn<Backend>;
    makeDecode = cuda::makeDecodeGroupOn<cuda::Sink::store, Backend>;
    makeAccumulate = cuda::makeDecodeGroupOn<cuda::Sink::add, Backend>;
    makeLowrank = cuda::makeLowrankGroupOn<Backend>;
  }

  cuda::Outcome availability() const override { return {}; }

  // Each call allocates a block of its own, so that the address sanitizer sees an access past its end.
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

} // namespace cgx::test

#endif // CGX_TEST_UNIT_CUDA_EMULATIONON_H
