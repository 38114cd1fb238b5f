//===-- Devices.h - The devices that test GPU kernels -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same tests run the kernel agents in a plain loop, on any machine, and the kernels on a GPU, if there is
// one.
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
  /// Returns whether it takes a second for what other devices do in a millisecond.
  virtual bool isSlow() const { return false; }
  /// Returns ok, or why its tests are skipped.
  virtual cuda::Outcome availability() const = 0;

  /// Returns aligned memory with a copy of these bytes, which is freed with the device.
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

/// Returns a device that runs kernel agents on the CPU, in a plain loop.
std::unique_ptr<Device> makeEmulation();
/// Returns a device that runs kernel agents on the CPU, with a CPU thread for each of their threads.
std::unique_ptr<Device> makeThreads();
/// Returns the first GPU of this machine.
std::unique_ptr<Device> makeGpu();

} // namespace cgx::test

#endif // CGX_TEST_UNIT_CUDA_DEVICES_H
