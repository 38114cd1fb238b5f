//===-- Devices.h - Where the tests of the GPU kernels run ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same tests run the kernel bodies in a plain loop, on any machine, and the kernels on a GPU, where there
// is one.
#ifndef CGX_TEST_UNIT_CUDA_DEVICES_H
#define CGX_TEST_UNIT_CUDA_DEVICES_H

#include "cgx/kernels/cuda_lowrank.h"
#include "cgx/kernels/cuda_memory.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cgx::test {

class Device {
public:
  virtual ~Device() = default;
  virtual const char *name() const = 0;
  /// Whether it takes a second for what others do in a millisecond.
  virtual bool isSlow() const { return false; }
  /// Ok, or why its tests are skipped.
  virtual cuda::Outcome availability() const = 0;

  /// Aligned memory that holds these bytes; freed with the device.
  virtual void *place(std::span<const uint8_t> bytes) = 0;
  virtual void overwrite(void *memory, std::span<const uint8_t> bytes) = 0;
  virtual std::vector<uint8_t> fetch(const void *memory, uint64_t bytes) = 0;

  using MakeEncode = std::unique_ptr<cuda::Group>(std::span<const cuda::EncodeLayer>, cuda::Outcome &);
  using MakeOwner = std::unique_ptr<cuda::Group>(std::span<const cuda::OwnerLayer>, cuda::Outcome &);
  using MakeReduce = std::unique_ptr<cuda::Group>(std::span<const cuda::ReduceLayer>, cuda::Outcome &);
  using MakeDecode = std::unique_ptr<cuda::Group>(std::span<const cuda::DecodeLayer>, cuda::Outcome &);
  using MakeLowrank = std::unique_ptr<cuda::LowrankGroup>(std::span<const cuda::LowrankLayer>,
                                                          cuda::Outcome &);
  MakeEncode *makeEncode = nullptr;
  MakeOwner *makeOwner = nullptr;
  MakeReduce *makeReduce = nullptr;
  MakeDecode *makeDecode = nullptr;
  MakeDecode *makeAccumulate = nullptr;
  MakeLowrank *makeLowrank = nullptr;
};

using MakeDevice = std::unique_ptr<Device>();

/// Kernel bodies on the CPU, in a plain loop.
std::unique_ptr<Device> makeEmulation();
/// Kernel bodies on the CPU, a thread of it for each of theirs.
std::unique_ptr<Device> makeThreads();
/// The first GPU of this machine.
std::unique_ptr<Device> makeGpu();

} // namespace cgx::test

#endif // CGX_TEST_UNIT_CUDA_DEVICES_H
