//===-- NcclTest.cpp - Collectives over NCCL, and its failures ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FakeNccl.cpp takes the place of NCCL. DeviceCollectiveTest tests that payloads arrive.

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include "cgx/formats/CodecJson.h"
#include "cgx/kernels/cuda_memory.h"

#include <barrier>
#include <chrono>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace cgx::test {
namespace {

using cuda::MemoryKind;
using Groups = std::vector<std::vector<uint32_t>>;

/// An array of floats on the GPU.
class DeviceFloats {
public:
  explicit DeviceFloats(const std::vector<float> &values) : count(values.size()) {
    EXPECT_TRUE(memory.allocate(MemoryKind::device, count * sizeof(float)).ok());
    EXPECT_TRUE(cuda::copy(memory.get(), values.data(), count * sizeof(float), nullptr).ok());
  }
  std::vector<float> read() const {
    std::vector<float> values(count);
    EXPECT_TRUE(cuda::copy(values.data(), memory.get(), count * sizeof(float), nullptr).ok());
    return values;
  }
  int64_t get() const { return address(memory.get()); }

private:
  size_t count;
  cuda::Memory memory;
};

ContextPtr join(const std::string &job, uint32_t rank, uint32_t ranks, const std::string &manifest,
                uint32_t timeoutMs = 20000) {
  ContextSpec spec{.transport = "nccl",
                   .job = job,
                   .rank = rank,
                   .ranks = ranks,
                   .manifest = manifest,
                   .timeoutMs = timeoutMs};
  ContextPtr context;
  EXPECT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
  EXPECT_EQ(cgx_context_use_cuda(context.get(), nullptr), CGX_OK) << cgx_last_error();
  return context;
}

void run(cgx_context *context, int64_t id, const DeviceFloats &input, const DeviceFloats &output) {
  cgx_rt_operand(address(context), id, 0, input.get(), output.get());
  cgx_rt_run(address(context), id);
}

OperandSpec exact(uint64_t elements) { return {.type = CGX_F32, .shape = {elements}}; }
OperandSpec compressed(uint64_t elements) {
  return {.type = CGX_F32, .shape = {elements}, .codec = quantize(4, 128)};
}

/// Returns small whole numbers, whose sums and products are exact in any order.
std::vector<float> numbersOf(uint32_t rank) { return {float(rank + 1), float(2 * rank), -float(rank), 2.0f}; }

TEST(NcclTest, ReducesInGroupsByItself) {
  const Groups groups = {{2, 0}, {1}}; // rank 3 is in no group
  const std::vector<std::pair<const char *, std::vector<float>>> expected = {{"sum", {4, 4, -2, 4}},
                                                                             {"mean", {2, 2, -1, 2}},
                                                                             {"max", {3, 4, 0, 2}},
                                                                             {"min", {1, 0, -2, 2}},
                                                                             {"product", {3, 0, 0, 4}}};
  std::vector<Json> list;
  for (uint32_t id = 0; id < expected.size(); ++id)
    list.push_back(collectiveJson(id, "all_reduce", groups, {exact(4)}, {{"reduction", expected[id].first}}));
  const std::string job = uniqueJob(), manifest = manifestText(4, list);
  runThreads(4, [&](uint32_t rank) {
    ContextPtr context = join(job, rank, 4, manifest);
    for (uint64_t step = 0; step < 2; ++step) {
      ASSERT_EQ(cgx_context_begin_step(context.get(), step), CGX_OK);
      for (uint32_t id = 0; id < expected.size(); ++id) {
        const DeviceFloats input(numbersOf(rank)), output(std::vector<float>(4, -7.0f));
        run(context.get(), id, input, output);
        EXPECT_EQ(output.read(), rank % 2 == 0 ? expected[id].second : numbersOf(rank))
            << expected[id].first << " on rank " << rank;
      }
      ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
    }
  });
}

TEST(NcclTest, CountsWhatPayloadsHave) {
  const std::string job = uniqueJob(),
                    manifest = manifestText(3, {collectiveJson(0, "all_reduce", everybody(3),
                                                               {compressed(4000)}, {{"reduction", "sum"}})});
  std::vector<uint64_t> wire[2];
  for (const char *transport : {"nccl", "inproc"}) {
    std::vector<uint64_t> &of = wire[*transport == 'n'];
    of.resize(3);
    runThreads(3, [&](uint32_t rank) {
      ContextSpec spec{.transport = transport, .job = job, .rank = rank, .ranks = 3, .manifest = manifest};
      ContextPtr context;
      ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
      ASSERT_EQ(cgx_context_use_cuda(context.get(), nullptr), CGX_OK);
      ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
      const DeviceFloats buffer(std::vector<float>(4000, 1.0f));
      run(context.get(), 0, buffer, buffer);
      ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
      const char *text = nullptr;
      ASSERT_EQ(cgx_context_telemetry(context.get(), &text), CGX_OK);
      of[rank] = Json::parse(text).at("wire_bytes");
    });
  }
  EXPECT_EQ(wire[0], wire[1]);
}

/// Returns how a step of one compressed all-reduce ended on each rank, after before(rank, context).
template <typename Before>
std::vector<std::string> failuresOf(uint32_t ranks, Before before, uint32_t timeoutMs = 3000) {
  const std::string job = uniqueJob(),
                    manifest =
                        manifestText(ranks, {collectiveJson(0, "all_reduce", everybody(ranks),
                                                            {compressed(4000)}, {{"reduction", "sum"}})});
  std::vector<std::string> failures(ranks);
  std::barrier joined(ranks);
  runThreads(ranks, [&](uint32_t rank) {
    ContextPtr context = join(job, rank, ranks, manifest, timeoutMs);
    const DeviceFloats buffer(std::vector<float>(4000, 1.0f));
    joined.arrive_and_wait();
    ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
    if (!before(rank, context.get()))
      return;
    run(context.get(), 0, buffer, buffer);
    if (cgx_context_end_step(context.get()) != CGX_OK)
      failures[rank] = cgx_last_error();
  });
  return failures;
}

/// Returns a function that only the fake has.
template <typename Function> Function *ofTheFake(const char *name) {
  void *library = dlopen("libnccl.so.2", RTLD_NOW);
  auto *function = library ? reinterpret_cast<Function *>(dlsym(library, name)) : nullptr;
  EXPECT_NE(function, nullptr) << "expected the fake, got NCCL itself: LD_LIBRARY_PATH";
  return function;
}

TEST(NcclTest, AnErrorOfItsOwnIsTheJobsFailure) {
  auto *fail = ofTheFake<void(int)>("fakeNcclFail");
  ASSERT_NE(fail, nullptr);
  const std::vector<std::string> failures = failuresOf(3, [&](uint32_t rank, cgx_context *) {
    if (rank == 1)
      fail(1);
    return true;
  });
  fail(-1);
  for (uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_NE(failures[rank].find("collective 0 (all_reduce of layer 'params/w')"), std::string::npos)
        << failures[rank];
  EXPECT_NE(failures[1].find("unhandled system error: the fake was told to fail"), std::string::npos)
      << failures[1];
}

TEST(NcclTest, ARankThatGivesUpEndsTheOthers) {
  const std::vector<std::string> failures = failuresOf(3, [](uint32_t rank, cgx_context *context) {
    if (rank == 2)
      cgx_context_abort(context, "no more");
    return rank != 2;
  });
  for (uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_NE(failures[rank].find("rank 2 aborted: no more"), std::string::npos) << failures[rank];
    EXPECT_NE(failures[rank].find("collective 0 (all_reduce of layer 'params/w')"), std::string::npos)
        << failures[rank];
  }
}

TEST(NcclTest, AnAbortThatHangsHoldsNobody) {
  auto *hang = ofTheFake<void(bool)>("fakeNcclHangAborts");
  ASSERT_NE(hang, nullptr);
  hang(true);
  const std::vector<std::string> failures = failuresOf(2, [](uint32_t rank, cgx_context *context) {
    if (rank == 1)
      cgx_context_abort(context, "no more");
    return rank != 1;
  });
  hang(false);
  EXPECT_NE(failures[0].find("rank 1 aborted: no more"), std::string::npos) << failures[0];
}

TEST(NcclTest, ASilentRankIsATimeout) {
  // A rank whose process is alive is waited for 20 times as long, or less if a busy machine hides that it is
  // alive.
  const auto stayAway = [](uint32_t rank, cgx_context *) {
    if (rank == 1)
      std::this_thread::sleep_for(std::chrono::seconds(4));
    return true;
  };
  const std::vector<std::string> failures = failuresOf(2, stayAway, /*timeoutMs=*/150);
  EXPECT_NE(failures[0].find("rank 1 did not answer for "), std::string::npos) << failures[0];
  EXPECT_NE(failures[1], "");
}

/// Runs three steps of a collective call by call, and again as one call and a graph that is replayed twice.
/// Results and the state of codecs must be equal in the end.
void replay(Json collective, uint64_t elements, uint64_t outputElements = 0) {
  if (Json &codec = collective["operands"][0]["codec"]; codec["family"] != "identity")
    codec.update({{"error_feedback", "f32"}, {"decay", 1.0}});
  const auto ranks = uint32_t(collective["groups"][0].size());
  const std::string manifest = manifestText(ranks, {collective});
  std::vector<float> values(elements);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<float> results[2], remembered[2]; // after step 2, called and replayed
  for (bool isReplayed : {false, true}) {
    const std::string job = uniqueJob();
    runThreads(ranks, [&](uint32_t rank) {
      ContextPtr context = join(job, rank, ranks, manifest);
      const DeviceFloats input(values), output(std::vector<float>(std::max(elements, outputElements)));
      const uint64_t eager = isReplayed ? 1 : 3;
      for (uint64_t step = 0; step < eager; ++step) {
        ASSERT_EQ(cgx_context_begin_step(context.get(), step), CGX_OK);
        run(context.get(), 0, input, output);
        ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
      }
      if (isReplayed) {
        ASSERT_EQ(cgx_context_begin_step(context.get(), 1), CGX_OK);
        const cuda::Outcome outcome = cuda::replayGraph(nullptr, 2, [&]() -> cuda::Outcome {
          run(context.get(), 0, input, output);
          return {};
        });
        EXPECT_TRUE(outcome.ok()) << outcome.error;
        ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
        EXPECT_EQ(cgx_context_check_cuda(context.get()), CGX_OK) << cgx_last_error();
      }
      if (rank != 0)
        return;
      results[isReplayed] = output.read();
      uint64_t count = 0;
      ASSERT_EQ(cgx_context_state_count(context.get(), &count), CGX_OK);
      for (uint64_t i = 0; i < count; ++i) {
        cgx_state_tensor kept;
        ASSERT_EQ(cgx_context_state_tensor(context.get(), i, &kept), CGX_OK) << cgx_last_error();
        const auto *values = static_cast<const float *>(kept.data);
        remembered[isReplayed].insert(remembered[isReplayed].end(), values, values + kept.elements);
      }
    });
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(remembered[0], remembered[1]);
  EXPECT_TRUE(remembered[0].empty() || remembered[0] != std::vector<float>(remembered[0].size()));
}

TEST(NcclTest, AGraphCountsItsStepsAndRemembers) {
  replay(collectiveJson(0, "all_reduce", everybody(2), {compressed(5000)}, {{"reduction", "sum"}}), 5000);
}

TEST(NcclTest, AGraphHoldsRounds) {
  for (const char *algorithm : {"ring", "tree"})
    replay(collectiveJson(0, "all_reduce", everybody(3), {compressed(5000)},
                          {{"reduction", "mean"}, {"algorithm", algorithm}}),
           5000);
}

TEST(NcclTest, AGraphHoldsAnotherWayBack) {
  OperandSpec operand = compressed(5000);
  operand.back = quantize(8, 512);
  replay(collectiveJson(0, "all_reduce", everybody(2), {operand}, {{"reduction", "sum"}}), 5000);
}

TEST(NcclTest, AGraphHoldsTheStagesOfHosts) {
  Json collective = collectiveJson(0, "all_reduce", everybody(4), {compressed(5000)},
                                   {{"reduction", "mean"}, {"algorithm", "hierarchical"}});
  collective["hierarchy"] = {{"local", 2}, {"leaders", "all"}, {"inside", writeCodec(quantize(8, 512))}};
  replay(collective, 5000);
}

TEST(NcclTest, AGraphHoldsSlices) {
  const std::vector<OperandSpec> operands = {compressed(4096)};
  replay(collectiveJson(0, "all_gather", everybody(2), operands, {{"dim", 0}}), 4096, 8192);
  replay(collectiveJson(0, "reduce_scatter", everybody(2), operands, {{"dim", 0}, {"reduction", "sum"}}),
         4096);
  replay(collectiveJson(0, "broadcast", everybody(2), operands, {{"root", 0}}), 4096);
  replay(collectiveJson(0, "all_to_all", everybody(2), {exact(4096)}, {{"split_dim", 0}, {"concat_dim", 0}}),
         4096);
  replay(collectiveJson(0, "permute", everybody(2), operands,
                        {{"source_target_pairs", Json::array({{0, 1}, {1, 0}})}}),
         4096);
}

TEST(NcclTest, AGraphHoldsFactors) {
  OperandSpec matrix{.shape = {50, 100}, .codec = {.family = CGX_CODEC_LOWRANK, .rank = 3}};
  replay(collectiveJson(0, "all_reduce", everybody(2), {matrix}, {{"reduction", "mean"}}), 5000);
}

TEST(NcclTest, AGraphKeepsItsBuffers) {
  const std::string manifest = manifestText(
      2, {collectiveJson(0, "all_reduce", everybody(2), {compressed(4000)}, {{"reduction", "sum"}})});
  const std::string job = uniqueJob();
  runThreads(2, [&](uint32_t rank) {
    ContextPtr context = join(job, rank, 2, manifest);
    const DeviceFloats captured(std::vector<float>(4000, 1.0f)), other(std::vector<float>(4000, 1.0f));
    ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
    run(context.get(), 0, captured, captured);
    const cuda::Outcome outcome = cuda::replayGraph(nullptr, 1, [&]() -> cuda::Outcome {
      run(context.get(), 0, captured, captured);
      return {};
    });
    EXPECT_TRUE(outcome.ok()) << outcome.error;
    run(context.get(), 0, captured, captured);
    ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
    ASSERT_EQ(cgx_context_begin_step(context.get(), 1), CGX_OK);
    run(context.get(), 0, other, other);
    EXPECT_EQ(cgx_context_end_step(context.get()), CGX_UNSUPPORTED);
    EXPECT_NE(std::string(cgx_last_error()).find("expected the buffers that a graph has captured"),
              std::string::npos)
        << cgx_last_error();
  });
}

TEST(NcclTest, AGraphRefusesWhatPassesThroughTheHost) {
  const OperandSpec integers{.type = CGX_I32, .shape = {4}};
  const std::string manifest = manifestText(
      2, {collectiveJson(0, "all_to_all", everybody(2), {integers}, {{"split_dim", 0}, {"concat_dim", 0}})});
  const std::string job = uniqueJob();
  std::barrier joined(2);
  runThreads(2, [&](uint32_t rank) {
    ContextPtr context = join(job, rank, 2, manifest);
    joined.arrive_and_wait();
    const DeviceFloats input(numbersOf(rank)), output(numbersOf(rank));
    ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
    (void)cuda::replayGraph(nullptr, 1, [&]() -> cuda::Outcome {
      run(context.get(), 0, input, output);
      return {};
    });
    EXPECT_EQ(cgx_context_end_step(context.get()), CGX_UNSUPPORTED);
    EXPECT_NE(std::string(cgx_last_error()).find("which a graph cannot repeat"), std::string::npos)
        << cgx_last_error();
  });
}

} // namespace
} // namespace cgx::test
