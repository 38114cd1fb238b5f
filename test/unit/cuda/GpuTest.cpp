//===-- GpuTest.cpp - Properties that only a GPU can show -----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../kernels/Inputs.h"
#include "cgx/kernels/codecs.h"
#include "cgx/kernels/cuda_memory.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

using cuda::Memory;
using cuda::MemoryKind;

TEST(GpuTest, SaysWhatIsMissing) {
  const cuda::Outcome outcome = cuda::availability();
  if (outcome.ok())
    GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(outcome.error.rfind("no CUDA device: ", 0), 0u) << outcome.error;
  cuda::Outcome made;
  const cuda::EncodeLayer layer;
  EXPECT_EQ(cuda::makeEncodeGroup(std::span(&layer, 1), made), nullptr);
  EXPECT_EQ(made.error, outcome.error);
  Memory memory;
  EXPECT_EQ(memory.allocate(MemoryKind::device, 16).error, outcome.error);
  int onStack = 0;
  EXPECT_EQ(cuda::memoryKindOf(&onStack), MemoryKind::host);
}

class OneGpuTest : public testing::Test {
protected:
  void SetUp() override {
    if (cuda::Outcome outcome = cuda::availability(); !outcome.ok())
      GTEST_SKIP() << outcome.error;
    ASSERT_TRUE(cuda::makeStream(stream).ok());
  }
  void TearDown() override {
    if (stream)
      cuda::destroyStream(stream);
  }

  /// Returns device memory with a copy of these bytes.
  Memory place(const void *bytes, uint64_t count) {
    Memory memory;
    EXPECT_TRUE(memory.allocate(MemoryKind::device, count).ok());
    EXPECT_TRUE(cuda::copy(memory.get(), bytes, count, stream).ok());
    EXPECT_TRUE(cuda::waitFor(stream).ok());
    return memory;
  }

  cuda::Stream stream = nullptr;
};

TEST_F(OneGpuTest, AGraphThatIsReplayedTakesTheStepFromMemory) {
  constexpr uint64_t elements = 5003;
  constexpr uint32_t replays = 5;
  std::mt19937_64 random(testSeed());
  const std::vector<float> values = makeFloats(Shape::gradient, elements, random);
  const cgx_codec codec = quantizeCodec(4, 128);
  std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, elements)), expected = payload;
  const cuda::StepState first = {7, 100};
  const Memory state = place(&first, sizeof first), input = place(values.data(), elements * sizeof(float)),
               output = place(payload.data(), payload.size());
  const cuda::EncodeLayer layer = {{codec, CGX_F32, elements, 0, 5, 1, 0, output.get()}, input.get()};
  cuda::Outcome outcome;
  const auto group = cuda::makeEncodeGroup(std::span(&layer, 1), outcome);
  ASSERT_TRUE(outcome.ok()) << outcome.error;
  outcome = cuda::replayGraph(stream, replays, [&] {
    if (cuda::Outcome ran = group->run(stream, state.get<cuda::StepState>()); !ran.ok())
      return ran;
    return cuda::advanceStep(stream, state.get<cuda::StepState>());
  });
  ASSERT_TRUE(outcome.ok()) << outcome.error;
  ASSERT_TRUE(cuda::copy(payload.data(), output.get(), payload.size(), stream).ok());
  ASSERT_TRUE(cuda::waitFor(stream).ok());
  encode(codec, CGX_F32, values.data(), elements, makeRandomKey(7, 100 + replays - 1, 5, 1, 0), 0,
         expected.data());
  EXPECT_EQ(payload, expected);
}

TEST_F(OneGpuTest, TellsTheKindsOfMemoryApart) {
  Memory device, pinned;
  ASSERT_TRUE(device.allocate(MemoryKind::device, 64).ok());
  ASSERT_TRUE(pinned.allocate(MemoryKind::pinned, 64).ok());
  const std::vector<char> host(64);
  EXPECT_EQ(cuda::memoryKindOf(device.get()), MemoryKind::device);
  EXPECT_EQ(cuda::memoryKindOf(pinned.get()), MemoryKind::pinned);
  EXPECT_EQ(cuda::memoryKindOf(host.data()), MemoryKind::host);
}

} // namespace
} // namespace cgx::test
