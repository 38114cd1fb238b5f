//===-- XlaHandlerTest.cpp - XLA's handlers, on the host and on GPUs ------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handlers of platform CUDA give the bits of those of the host, find their rank without reading the token,
// and report arguments that do not fit.

#include "../../kernels/Inputs.h"
#include "FakeXla.h"
#include "Job.h"
#include "Programs.h"
#include "cgx/kernels/cuda_memory.h"
#include "cgx/kernels/cuda_peers.h"
#include "cgx/xla.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <thread>

using namespace cgx;
using namespace cgx::test;

namespace {

using Results = std::vector<std::vector<std::vector<float>>>; ///< by rank, step and element

class XlaHandlerTest : public ::testing::Test {
protected:
  static constexpr uint64_t kElements = 5000;
  static constexpr uint64_t kSteps = 3;

  void SetUp() override {
    if (cuda::Outcome outcome = cuda::availability(); !outcome.ok())
      GTEST_SKIP() << outcome.error;
  }

  void open(uint32_t ranks, const std::vector<int32_t> &gpus, const cgx_codec &codec) {
    ASSERT_EQ(tryToOpen(ranks, gpus, codec), CGX_OK) << cgx_xla_last_error();
  }

  cgx_status tryToOpen(uint32_t ranks, const std::vector<int32_t> &gpus, const cgx_codec &codec) {
    OperandSpec operand;
    operand.shape = {kElements};
    operand.codec = codec;
    Json json = collectiveJson(0, "all_reduce", everybody(ranks), {operand}, {{"reduction", "mean"}});
    if (codec.bits == 2)
      json["operands"][0]["codec"].update({{"error_feedback", "f32"}, {"decay", 0.9}});
    const std::string manifest = manifestText(ranks, {json});
    const std::string job = uniqueJob();
    std::vector<uint32_t> local(ranks);
    std::iota(local.begin(), local.end(), 0u);
    cgx_xla_program_config config = CGX_XLA_PROGRAM_CONFIG_INIT;
    config.name = "step";
    config.context.transport = "inproc";
    config.context.job = job.c_str();
    config.context.ranks = ranks;
    config.context.seed = 3;
    config.context.timeout_ms = 20000;
    config.context.manifest = manifest.c_str();
    config.local_ranks = local.data();
    config.local_rank_count = ranks;
    config.local_gpus = gpus.empty() ? nullptr : gpus.data();
    const cgx_status status = cgx_xla_program_open(&config);
    isOpen = status == CGX_OK;
    return status;
  }

  void TearDown() override {
    if (isOpen) {
      EXPECT_EQ(cgx_xla_program_close("step"), CGX_OK) << cgx_xla_last_error();
    }
  }

  static std::vector<float> gradient(uint32_t rank, uint64_t step) {
    std::mt19937_64 random(17 * rank + step);
    return makeFloats(Shape::gradient, kElements, random);
  }

  /// Runs one step of a rank on the host.
  static std::vector<float> runOnHost(uint32_t rank, uint64_t step) {
    std::vector<float> input = gradient(rank, step), output(kElements);
    uint32_t token = rank, next = ~0u;
    auto call = [&](auto handler, XlaCall calling) {
      calling.run = int64_t(100 + step);
      calling.attributes["program"] = "step";
      calling.arguments.insert(calling.arguments.begin(), {XLA_FFI_DataType_U32, &token});
      calling.results.insert(calling.results.begin(), {XLA_FFI_DataType_U32, &next});
      EXPECT_EQ(calling(handler), "");
      EXPECT_EQ(next, rank);
    };
    call(cgx_xla_begin_step, {});
    call(cgx_xla_collective, collective(input.data(), output.data()));
    call(cgx_xla_end_step, {});
    return output;
  }

  static XlaCall collective(void *input, void *output) {
    XlaCall call;
    call.arguments = {{XLA_FFI_DataType_F32, input, kElements}};
    call.results = {{XLA_FFI_DataType_F32, output, kElements}};
    call.attributes = {{"collective", 0}, {"operands", 1}, {"kept", std::vector<int64_t>{}}};
    return call;
  }

  /// Calls a handler on a GPU, with a token that must not be read.
  static std::string callOnGpu(XLA_FFI_Error *(*handler)(XLA_FFI_CallFrame *), int32_t gpu,
                               cuda::Stream stream, int64_t run, XlaCall call = {}) {
    call.run = run;
    call.device = gpu;
    call.stream = stream;
    call.attributes["program"] = "step";
    call.arguments.insert(call.arguments.begin(), {XLA_FFI_DataType_U32, nullptr});
    call.results.insert(call.results.begin(), {XLA_FFI_DataType_U32, nullptr});
    return call(handler);
  }

  /// Runs the same step on a GPU. Earlier work on the stream makes the input, so it does not exist yet when
  /// the handler is called.
  static void runOnGpu(int32_t gpu, uint32_t rank, uint64_t step, cuda::Stream stream,
                       std::vector<float> &output) {
    ASSERT_TRUE(cuda::useDevice(gpu).ok());
    const std::vector<float> input = gradient(rank, step);
    const uint64_t bytes = kElements * sizeof(float);
    cuda::Memory in, out;
    ASSERT_TRUE(in.allocate(cuda::MemoryKind::device, bytes).ok());
    ASSERT_TRUE(out.allocate(cuda::MemoryKind::device, bytes).ok());
    ASSERT_TRUE(cuda::copy(in.get(), input.data(), bytes, stream).ok());
    const int64_t run = int64_t(200 + step);
    ASSERT_EQ(callOnGpu(cgx_xla_begin_step_cuda, gpu, stream, run), "");
    ASSERT_EQ(callOnGpu(cgx_xla_collective_cuda, gpu, stream, run, collective(in.get(), out.get())), "");
    ASSERT_EQ(callOnGpu(cgx_xla_end_step_cuda, gpu, stream, run), "");
    output.resize(kElements);
    ASSERT_TRUE(cuda::copy(output.data(), out.get(), bytes, stream).ok());
    ASSERT_TRUE(cuda::waitFor(stream).ok());
  }

  bool isOpen = false;
};

TEST_F(XlaHandlerTest, GpusGiveTheBitsOfTheHost) {
  for (const cgx_codec &codec : {cgx_codec{}, quantize(4, 128), quantize(2, 64)}) {
    // The GPUs are in an order of their own: the rank is that of the GPU, not its number.
    const std::vector<int32_t> gpus = {1 % int32_t(cuda::deviceCount()), 0};
    if (cuda::deviceCount() < 2)
      GTEST_SKIP() << "needs two GPUs";
    Results host(2), device(2);
    for (bool onGpus : {false, true}) {
      ASSERT_NO_FATAL_FAILURE(open(2, onGpus ? gpus : std::vector<int32_t>{}, codec));
      Results &results = onGpus ? device : host;
      std::vector<std::jthread> threads; // XLA has one thread for each GPU
      for (uint32_t rank = 0; rank < 2; ++rank)
        threads.emplace_back([&, rank] {
          cuda::Stream stream = nullptr;
          if (onGpus) {
            ASSERT_TRUE(cuda::useDevice(gpus[rank]).ok());
            ASSERT_TRUE(cuda::makeStream(stream).ok());
          }
          for (uint64_t step = 0; step < kSteps; ++step) {
            std::vector<float> &output = results[rank].emplace_back();
            if (onGpus)
              ASSERT_NO_FATAL_FAILURE(runOnGpu(gpus[rank], rank, step, stream, output));
            else
              output = runOnHost(rank, step);
          }
        });
      threads.clear();
      ASSERT_EQ(cgx_xla_program_close("step"), CGX_OK) << cgx_xla_last_error();
      isOpen = false;
    }
    EXPECT_EQ(host, device);
    EXPECT_EQ(device[0], device[1]);
  }
}

TEST_F(XlaHandlerTest, ADeviceWithoutRankIsNamed) {
  ASSERT_NO_FATAL_FAILURE(open(1, {0}, quantize(4, 128)));
  EXPECT_EQ(callOnGpu(cgx_xla_begin_step_cuda, 5, nullptr, 1),
            "cgx: GPU 5 has no rank of this process: the program was compiled for other devices");
}

TEST_F(XlaHandlerTest, ACollectiveOnAnotherStreamThanItsStepFails) {
  ASSERT_NO_FATAL_FAILURE(open(1, {0}, quantize(4, 128)));
  cuda::Stream first = nullptr, second = nullptr;
  ASSERT_TRUE(cuda::makeStream(first).ok() && cuda::makeStream(second).ok());
  cuda::Memory memory;
  ASSERT_TRUE(memory.allocate(cuda::MemoryKind::device, kElements * sizeof(float)).ok());
  EXPECT_EQ(callOnGpu(cgx_xla_begin_step_cuda, 0, first, 1), "");
  EXPECT_NE(callOnGpu(cgx_xla_collective_cuda, 0, second, 1, collective(memory.get(), memory.get()))
                .find("on another stream than the step"),
            std::string::npos);
}

TEST_F(XlaHandlerTest, AGpuThatIsNotThereIsSaidWhenTheProgramOpens) {
  EXPECT_EQ(tryToOpen(1, {1000}, quantize(4, 128)), CGX_UNSUPPORTED);
  EXPECT_NE(std::string(cgx_xla_last_error()).find("got 1000"), std::string::npos) << cgx_xla_last_error();
}

} // namespace
