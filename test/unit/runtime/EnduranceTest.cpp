//===-- EnduranceTest.cpp - Thousands of steps in constant memory ---------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each step runs other collectives of other shapes, as with sequences of different lengths.
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeepsFreedMemory = true; // a sanitizer keeps freed memory, to detect later uses
#else
constexpr bool kKeepsFreedMemory = false;
#endif

namespace cgx::test {
namespace {

constexpr uint32_t kRanks = 3, kCollectives = 60;
constexpr uint64_t kSteps = 10000, kWarmSteps = 2000;
constexpr int64_t kAllowedGrowth = 256 << 10; ///< bytes: ten per run of a collective, less than any block

/// A program that is equal on all ranks, with collectives from zero elements to more than a ring holds.
struct Program {
  Program() {
    std::mt19937 random(3);
    std::vector<cgx_codec> codecs = {{},
                                     quantize(4, 128),
                                     quantize(3, 100, CGX_ROUND_NEAREST),
                                     {.family = CGX_CODEC_TOPK, .density = 0.03f},
                                     {.family = CGX_CODEC_THRESHOLD, .threshold = 1.5f},
                                     {.family = CGX_CODEC_LOSSLESS},
                                     {.family = CGX_CODEC_LOWRANK, .rank = 2}};
    const char *algorithms[] = {"scatter_reduce_allgather", "ring", "tree", "one_shot", "halving_doubling"};
    for (uint32_t id = 0; id < kCollectives; ++id) {
      OperandSpec operand{.codec = codecs[id % codecs.size()]};
      bool isFactored = operand.codec.family == CGX_CODEC_LOWRANK, isGather = !isFactored && id % 5 == 4;
      uint64_t rows = 20 + random() % 380, columns = 20 + random() % 40;
      operand.shape = {id % 11 == 0 && !isFactored ? 0 : rows, columns};
      Json more = isGather ? Json{{"dim", 0}}
                           : Json{{"reduction", "mean"}, {"algorithm", algorithms[isFactored ? 0 : id % 4]}};
      Json one =
          collectiveJson(id, isGather ? "all_gather" : "all_reduce", everybody(kRanks), {operand}, more);
      bool isLossy = operand.codec.family != CGX_CODEC_IDENTITY && operand.codec.family != CGX_CODEC_LOSSLESS;
      if (isLossy && !isGather)
        one["operands"][0]["codec"].update({{"error_feedback", "f32"}, {"decay", 1.0}});
      collectives.push_back(one);
      inputs.push_back(operand.elements());
      outputs.push_back(operand.elements() * (isGather ? kRanks : 1));
    }
  }

  std::vector<Json> collectives;
  std::vector<uint64_t> inputs, outputs; ///< counts of elements
};

/// Returns the bytes of memory that this process uses now.
int64_t residentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

void train(const Program &program, const char *transport, const std::string &job, uint32_t rank,
           uint64_t steps, const std::function<void(uint64_t step)> &look) {
  ContextSpec spec{.transport = transport,
                   .job = job,
                   .rank = rank,
                   .ranks = kRanks,
                   .manifest = manifestText(kRanks, program.collectives),
                   .ringBytes = 1 << 16};
  ContextPtr context;
  ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
  std::vector<float> input(400 * 60), output(kRanks * 400 * 60);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = std::sin(float(i * (rank + 1)));
  for (uint64_t step = 0; step < steps; ++step) {
    std::mt19937 random{uint32_t(step)}; // equal on all ranks
    ASSERT_EQ(cgx_context_begin_step(context.get(), step), CGX_OK) << cgx_last_error();
    for (int run = 0; run < 3; ++run) {
      uint32_t id = random() % kCollectives;
      std::fill_n(output.begin(), program.outputs[id], std::nanf(""));
      cgx_rt_operand(address(context.get()), id, 0, address(input.data()), address(output.data()));
      cgx_rt_run(address(context.get()), id);
      for (uint64_t e = 0; e < program.outputs[id]; e += 1000)
        ASSERT_TRUE(std::isfinite(output[e])) << "collective " << id << ", element " << e;
    }
    ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
    const char *telemetry = nullptr;
    if (step % 500 == 0) {
      ASSERT_EQ(cgx_context_telemetry(context.get(), &telemetry), CGX_OK);
    }
    look(step);
  }
}

/// The growth of rank 0's process from its warm-up to the end.
class Growth {
public:
  void look(uint64_t step) {
    if (step == kWarmSteps)
      warm = residentBytes();
    if (step == kSteps - 1) {
      EXPECT_LT(residentBytes() - warm, kAllowedGrowth);
    }
  }

private:
  int64_t warm = 0;
};

TEST(Endurance, ProcessesOfManyStepsOfOtherShapesDoNotGrow) {
  if (kKeepsFreedMemory)
    GTEST_SKIP() << "a sanitizer keeps what is freed";
  Program program;
  std::string job = uniqueJob();
  runProcesses(kRanks, [&](uint32_t rank) {
    Growth growth;
    train(program, "shm", job, rank, kSteps, [&](uint64_t step) { growth.look(step); });
  });
  EXPECT_EQ(leftovers(job), "");
}

TEST(Endurance, ThreadsOfManyStepsOfOtherShapesDoNotGrow) {
  if (kKeepsFreedMemory)
    GTEST_SKIP() << "a sanitizer keeps what is freed";
  Program program;
  std::string job = uniqueJob();
  runThreads(kRanks, [&](uint32_t rank) {
    Growth growth;
    train(program, "inproc", job, rank, kSteps, [&](uint64_t step) {
      if (rank == 0)
        growth.look(step);
    });
  });
}

} // namespace
} // namespace cgx::test
