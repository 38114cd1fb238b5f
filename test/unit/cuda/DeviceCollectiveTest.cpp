//===-- DeviceCollectiveTest.cpp - Collectives of GPU buffers against those of the host ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same program runs in two jobs, one with its buffers in the memory of the host and one with them on a
// GPU, and all results must be the same bits.

#include "../kernels/Inputs.h"
#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include "cgx/kernels/cuda_memory.h"

#include <gtest/gtest.h>

#include <mutex>

namespace cgx::test {
namespace {

using cuda::MemoryKind;
using Outputs = std::vector<std::vector<uint8_t>>;

struct Collective {
  const char *kind;
  Json more;
  std::vector<OperandSpec> operands;
};

cgx_codec maxAbs() {
  cgx_codec codec = quantize(8, 512);
  codec.scaling = CGX_SCALING_MAX_ABS;
  return codec;
}

OperandSpec operand(cgx_element_type type, uint64_t elements, cgx_codec codec) {
  return {.type = type, .shape = {elements}, .codec = codec};
}

const std::vector<Collective> collectives = {
    {"all_reduce", {{"reduction", "sum"}}, {operand(CGX_F32, 100003, quantize(4, 128))}},
    {"all_reduce",
     {{"reduction", "mean"}},
     {operand(CGX_F16, 70000, quantize(4, 128)), operand(CGX_BF16, 517, maxAbs()),
      operand(CGX_F32, 1, quantize(2, 64)), operand(CGX_F32, 40000, quantize(8, 512, CGX_ROUND_NEAREST))}},
    {"all_reduce",
     {{"reduction", "sum"}},
     {operand(CGX_F32, 5000, {.family = CGX_CODEC_TERNARY, .bucket = 64}),
      operand(CGX_F32, 5000, {.family = CGX_CODEC_CAST, .format = CGX_FORMAT_BF16}),
      operand(CGX_F32, 5000, quantize(4, 128, CGX_ROUND_STOCHASTIC, CGX_SCALE_BF16, /*checksum=*/true))}},
    // Staged: pieces that are not aligned, an exact operand, a codec without kernels, another collective.
    {"all_reduce", {{"reduction", "sum"}}, {operand(CGX_F32, 90000, quantize(3, 100))}},
    {"all_reduce", {{"reduction", "max"}}, {operand(CGX_F32, 3000, {})}},
    {"all_reduce",
     {{"reduction", "sum"}},
     {operand(CGX_F32, 3000, {.family = CGX_CODEC_TOPK, .density = 0.1f})}},
    {"all_gather", {{"dim", 0}}, {operand(CGX_F32, 600, quantize(4, 128))}},
    {"reduce_scatter", {{"dim", 0}, {"reduction", "sum"}}, {operand(CGX_F32, 1200, quantize(4, 128))}},
};

class DeviceCollectiveTest : public testing::TestWithParam<uint32_t> {
protected:
  uint32_t ranks() const { return GetParam(); }

  std::string manifest() const {
    std::vector<Json> list;
    for (uint32_t id = 0; id < collectives.size(); ++id)
      list.push_back(collectiveJson(id, collectives[id].kind, everybody(ranks()), collectives[id].operands,
                                    collectives[id].more));
    return manifestText(ranks(), list);
  }

  uint64_t outputElements(const Collective &of, const OperandSpec &operand) const {
    const std::string kind = of.kind;
    return kind == "all_gather"       ? operand.elements() * ranks()
           : kind == "reduce_scatter" ? operand.elements() / ranks()
                                      : operand.elements();
  }

  /// Runs all collectives twice a step, for two steps; the results of one rank, in order.
  void runRank(cgx_context *context, uint32_t rank, bool onDevice, Outputs &outputs) const {
    std::mt19937_64 random(testSeed() + rank);
    for (uint64_t step = 0; step < 2; ++step) {
      ASSERT_EQ(cgx_context_begin_step(context, step), CGX_OK);
      for (int repetition = 0; repetition < 2; ++repetition)
        for (uint32_t id = 0; id < collectives.size(); ++id)
          ASSERT_NO_FATAL_FAILURE(runOne(context, id, onDevice, random, outputs));
      ASSERT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
    }
  }

  void runOne(cgx_context *context, uint32_t id, bool onDevice, std::mt19937_64 &random,
              Outputs &outputs) const {
    const Collective &of = collectives[id];
    std::vector<cuda::Memory> memory;
    std::vector<std::vector<uint8_t>> inputs;
    const size_t first = outputs.size();
    for (size_t i = 0; i < of.operands.size(); ++i) {
      const OperandSpec &operand = of.operands[i];
      inputs.push_back(toElements(operand.type, makeFloats(Shape::gradient, operand.elements(), random)));
      outputs.emplace_back(outputElements(of, operand) * cgx_element_bytes(operand.type), uint8_t(0xcd));
      void *input = inputs.back().data(), *output = outputs.back().data();
      if (onDevice) {
        ASSERT_TRUE(memory.emplace_back().allocate(MemoryKind::device, inputs.back().size()).ok());
        ASSERT_TRUE(memory.emplace_back().allocate(MemoryKind::device, outputs.back().size()).ok());
        ASSERT_TRUE(cuda::copy(memory[2 * i].get(), input, inputs.back().size(), nullptr).ok());
        input = memory[2 * i].get();
        output = memory[2 * i + 1].get();
      }
      cgx_rt_operand(address(context), id, int64_t(i), address(input), address(output));
    }
    cgx_rt_run(address(context), id);
    for (size_t i = 0; onDevice && i < of.operands.size(); ++i)
      ASSERT_TRUE(
          cuda::copy(outputs[first + i].data(), memory[2 * i + 1].get(), outputs[first + i].size(), nullptr)
              .ok());
    ASSERT_TRUE(!onDevice || cuda::waitFor(nullptr).ok());
  }

  std::vector<Outputs> runJob(bool onDevice) const {
    std::vector<Outputs> outputs(ranks());
    const std::string job = uniqueJob(), text = manifest();
    runThreads(ranks(), [&](uint32_t rank) {
      ContextSpec spec{.job = job, .rank = rank, .ranks = ranks(), .manifest = text};
      ContextPtr context;
      ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
      if (onDevice) {
        ASSERT_EQ(cgx_context_use_cuda(context.get(), nullptr), CGX_OK) << cgx_last_error();
      }
      runRank(context.get(), rank, onDevice, outputs[rank]);
    });
    return outputs;
  }
};

TEST_P(DeviceCollectiveTest, GiveTheBitsOfTheHost) {
  if (cuda::Outcome outcome = cuda::availability(); !outcome.ok())
    GTEST_SKIP() << outcome.error;
  const std::vector<Outputs> host = runJob(/*onDevice=*/false), device = runJob(/*onDevice=*/true);
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    ASSERT_EQ(device[rank].size(), host[rank].size());
    for (size_t i = 0; i < host[rank].size(); ++i)
      EXPECT_TRUE(device[rank][i] == host[rank][i]) << "rank " << rank << ", result " << i;
  }
}

TEST(UseCudaTest, SaysWhatIsMissing) {
  const cuda::Outcome outcome = cuda::availability();
  if (outcome.ok())
    GTEST_SKIP() << "there is a GPU";
  ContextSpec spec{.job = uniqueJob(), .manifest = manifestText(1, {})};
  ContextPtr context;
  ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
  EXPECT_EQ(cgx_context_use_cuda(context.get(), nullptr), CGX_UNSUPPORTED);
  EXPECT_EQ(cgx_last_error(), outcome.error);
}

INSTANTIATE_TEST_SUITE_P(Ranks, DeviceCollectiveTest, testing::Values(1u, 2u, 3u, 4u));

} // namespace
} // namespace cgx::test
