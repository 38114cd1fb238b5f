//===-- StartTest.cpp - Collectives that run during the step ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective that is started and waited for has the bits of one that is run. Whatever a program
// or its peers do wrong with it gives an error and no hang.
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <latch>
#include <map>
#include <random>
#include <thread>

namespace cgx::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Tensor = std::vector<float>;

struct Setting {
  std::string transport;
  bool processes;
  uint32_t ranks;
  uint64_t ringBytes;
};

/// The number of rows of operands, divisible by every number of ranks up to 8.
constexpr uint64_t kRows = 840, kColumns = 7;

/// Returns one collective of each kind and algorithm, with codecs of all kinds. Ids have gaps and are not in
/// order.
std::vector<Json> collectives(uint32_t ranks) {
  OperandSpec exact{.shape = {kRows, kColumns}}, lossy{.shape = {kRows, kColumns}, .codec = quantize(4, 64)};
  auto all = everybody(ranks);
  std::vector<std::vector<uint32_t>> pairs;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    pairs.push_back({rank, (rank + 1) % ranks});
  std::vector<Json> list = {
      collectiveJson(9, "all_reduce", all, {lossy, exact}, {{"reduction", "mean"}}),
      collectiveJson(2, "all_gather", all, {lossy}, {{"dim", 0}}),
      collectiveJson(7, "reduce_scatter", all, {lossy}, {{"reduction", "sum"}, {"dim", 0}}),
      collectiveJson(4, "all_to_all", all, {exact}, {{"split_dim", 0}, {"concat_dim", 0}}),
      collectiveJson(3, "broadcast", all, {lossy}, {{"root", 0}}),
      collectiveJson(5, "permute", all, {lossy}, {{"source_target_pairs", pairs}}),
      collectiveJson(11, "all_reduce", all, {lossy}, {{"reduction", "sum"}, {"algorithm", "ring"}}),
      collectiveJson(12, "all_reduce", all, {lossy}, {{"reduction", "sum"}, {"algorithm", "tree"}}),
  };
  list[0]["operands"][0]["codec"]["error_feedback"] = "f32";
  list[0]["operands"][0]["codec"]["decay"] = 1.0;
  return list;
}

/// An operand of a collective, with its buffers.
struct Operand {
  uint32_t id, number;
  Tensor input, output;
};

std::vector<Operand> operandsOf(const std::vector<Json> &list, uint32_t ranks) {
  std::vector<Operand> operands;
  for (const Json &collective : list)
    for (uint32_t i = 0; i < collective["operands"].size(); ++i) {
      uint64_t elements = kRows * kColumns, results = elements;
      if (collective["kind"] == "all_gather")
        results *= ranks;
      if (collective["kind"] == "reduce_scatter")
        results /= ranks;
      operands.push_back({collective["id"], i, Tensor(elements), Tensor(results)});
    }
  return operands;
}

/// The functions by which a program communicates.
enum class Form { Run, StartAll, Mixed };

class StartTest : public testing::TestWithParam<Setting> {
protected:
  void forEachRank(const std::function<void(uint32_t)> &body) const {
    if (isUnderMpi())
      runMpiRank(GetParam().ranks, body);
    else if (GetParam().processes)
      runProcesses(GetParam().ranks, body);
    else
      runThreads(GetParam().ranks, body);
  }

  ContextSpec spec(const std::string &job, uint32_t rank, const std::string &manifest) const {
    return {.transport = GetParam().transport,
            .job = job,
            .rank = rank,
            .ranks = GetParam().ranks,
            .manifest = manifest,
            .ringBytes = GetParam().ringBytes};
  }

  /// Runs three steps of one rank in `form` and returns everything that they write.
  Tensor run(cgx_context *context, uint32_t rank, Form form) const {
    std::vector<Json> list = collectives(GetParam().ranks);
    std::vector<Operand> operands = operandsOf(list, GetParam().ranks);
    int64_t at = address(context);
    Tensor written;
    auto name = [&](uint32_t id) {
      for (Operand &operand : operands)
        if (operand.id == id)
          cgx_rt_operand(at, id, operand.number, address(operand.input.data()),
                         address(operand.output.data()));
    };
    for (uint64_t step = 0; step < 3; ++step) {
      std::mt19937_64 random(step * 100 + rank);
      std::normal_distribution<float> normal;
      for (Operand &operand : operands) {
        for (float &x : operand.input)
          x = normal(random);
        std::fill(operand.output.begin(), operand.output.end(), -1.0f);
      }
      EXPECT_EQ(cgx_context_begin_step(context, step), CGX_OK) << cgx_last_error();
      for (size_t i = 0; i < list.size(); ++i) {
        uint32_t id = list[i]["id"];
        name(id);
        // Every third collective of a mixed program queues after those that were started.
        form == Form::Run || (form == Form::Mixed && i % 3 == 2) ? cgx_rt_run(at, id) : cgx_rt_start(at, id);
      }
      // The waits are not in the order of the starts.
      for (size_t i = list.size(); i-- > 0;)
        if (form == Form::StartAll || (form == Form::Mixed && i % 3 != 2))
          cgx_rt_wait(at, list[i]["id"]);
      EXPECT_EQ(cgx_context_end_step(context), CGX_OK) << cgx_last_error();
      for (const Operand &operand : operands)
        written.insert(written.end(), operand.output.begin(), operand.output.end());
    }
    return written;
  }
};

TEST_P(StartTest, HasTheBitsOfRun) {
  std::string manifest = manifestText(GetParam().ranks, collectives(GetParam().ranks));
  std::string jobs[] = {uniqueJob(), uniqueJob(), uniqueJob()};
  forEachRank([&](uint32_t rank) {
    std::vector<Tensor> written;
    for (Form form : {Form::Run, Form::StartAll, Form::Mixed}) {
      ContextPtr context;
      ASSERT_EQ(spec(jobs[size_t(form)], rank, manifest).create(context), CGX_OK) << cgx_last_error();
      written.push_back(run(context.get(), rank, form));
    }
    ASSERT_EQ(written[0].size(), written[1].size());
    EXPECT_EQ(std::memcmp(written[0].data(), written[1].data(), written[0].size() * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(written[0].data(), written[2].data(), written[0].size() * sizeof(float)), 0);
  });
}

// In a loop, one collective is started many times, and the rank computes in between.
TEST_P(StartTest, StartsManyTimes) {
  uint32_t ranks = GetParam().ranks;
  std::string job = uniqueJob();
  std::string manifest = manifestText(
      ranks, {collectiveJson(1, "all_reduce", everybody(ranks), {{.shape = {100}}}, {{"reduction", "sum"}})});
  forEachRank([&](uint32_t rank) {
    ContextPtr context;
    ASSERT_EQ(spec(job, rank, manifest).create(context), CGX_OK) << cgx_last_error();
    int64_t at = address(context.get());
    Tensor tensor(100);
    ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
    for (int i = 0; i < 200; ++i) {
      std::fill(tensor.begin(), tensor.end(), float(i));
      cgx_rt_operand(at, 1, 0, address(tensor.data()), address(tensor.data()));
      cgx_rt_start(at, 1);
      if (i % 50 == int(rank))
        std::this_thread::sleep_for(1ms);
      cgx_rt_wait(at, 1);
      for (float x : tensor)
        ASSERT_EQ(x, float(i) * float(ranks));
    }
    EXPECT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
  });
}

TEST_P(StartTest, ExplicitFormQueuesBehindWhatIsInFlight) {
  uint32_t ranks = GetParam().ranks;
  std::string job = uniqueJob();
  OperandSpec operand{.shape = {1000}, .codec = quantize(8, 64)};
  std::vector<Json> list;
  for (uint32_t id : {0u, 1u, 2u})
    list.push_back(collectiveJson(id, "all_reduce", everybody(ranks), {operand}, {{"reduction", "sum"}}));
  for (Json &collective : list) // equal random numbers
    collective["operands"][0]["layer_id"] = 5;
  std::string manifest = manifestText(ranks, list);
  forEachRank([&](uint32_t rank) {
    ContextPtr context;
    ASSERT_EQ(spec(job, rank, manifest).create(context), CGX_OK) << cgx_last_error();
    int64_t at = address(context.get());
    Tensor input(1000), run(1000), started(1000), explicitly(1000);
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = std::sin(float(i * (rank + 1)));
    std::vector<std::byte> whole(1 << 16), slots(1 << 16), payload(1 << 16), gathered(1 << 16);
    Tensor chunk(1000);
    ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
    cgx_rt_operand(at, 0, 0, address(input.data()), address(run.data()));
    cgx_rt_run(at, 0);
    cgx_rt_operand(at, 1, 0, address(input.data()), address(started.data()));
    cgx_rt_start(at, 1);
    cgx_rt_compress(at, 2, 0, 0, address(input.data()), address(whole.data()));
    cgx_rt_payload_all_to_all(at, 2, 0, address(whole.data()), address(slots.data()));
    cgx_rt_decompress_accumulate(at, 2, 0, address(slots.data()), address(chunk.data()));
    cgx_rt_compress(at, 2, 0, 1, address(chunk.data()), address(payload.data()));
    cgx_rt_payload_all_gather(at, 2, 0, address(payload.data()), address(gathered.data()));
    cgx_rt_decompress(at, 2, 0, address(gathered.data()), address(explicitly.data()));
    cgx_rt_wait(at, 1);
    ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
    EXPECT_EQ(run, started);
    if (ranks > 1) { // a group of one rank does not encode, but its explicit form does
      EXPECT_EQ(run, explicitly);
    }
  });
}

// Profiles, plans and counters do not depend on the thread that runs a collective.
TEST_P(StartTest, ProfilesAndCounts) {
  uint32_t ranks = GetParam().ranks;
  std::string manifest = manifestText(ranks, collectives(ranks)), job = uniqueJob();
  forEachRank([&](uint32_t rank) {
    ContextPtr context;
    ASSERT_EQ(spec(job, rank, manifest).create(context), CGX_OK) << cgx_last_error();
    ASSERT_EQ(cgx_context_begin_profile(context.get(), nullptr), CGX_OK) << cgx_last_error();
    run(context.get(), rank, Form::StartAll);
    const char *text = nullptr;
    ASSERT_EQ(cgx_context_end_profile(context.get(), &text), CGX_OK) << cgx_last_error();
    EXPECT_FALSE(Json::parse(text)["layers"].empty());
    ASSERT_EQ(cgx_context_telemetry(context.get(), &text), CGX_OK);
    Json telemetry = Json::parse(text);
    EXPECT_EQ(telemetry["wire_bytes"], telemetry["transport_bytes"]);
    for (const Json &collective : telemetry["collectives"]) {
      EXPECT_EQ(collective["runs"], 3);
      EXPECT_GT(collective["seconds"]["total"], 0.0);
      EXPECT_GE(collective["seconds"]["wait"], 0.0);
    }
  });
}

/// Returns true if `inner` is within `outer`, up to the rounding of microseconds since 1970.
bool isWithin(const Json &inner, const Json &outer) {
  auto end = [](const Json &event) { return double(event["ts"]) + double(event["dur"]); };
  return double(inner["ts"]) >= double(outer["ts"]) - 1 && end(inner) <= end(outer) + 1;
}

TEST_P(StartTest, TracesWhoDidWhatWhen) {
  std::string manifest = manifestText(GetParam().ranks, collectives(GetParam().ranks)), job = uniqueJob();
  forEachRank([&](uint32_t rank) {
    ContextPtr context;
    ASSERT_EQ(spec(job, rank, manifest).create(context), CGX_OK) << cgx_last_error();
    const char *text = nullptr;
    EXPECT_EQ(cgx_context_trace(context.get(), &text), CGX_INVALID_ARGUMENT);
    ASSERT_EQ(cgx_context_begin_trace(context.get()), CGX_OK);
    run(context.get(), rank, Form::Mixed);
    ASSERT_EQ(cgx_context_trace(context.get(), &text), CGX_OK) << cgx_last_error();
    std::map<std::string, std::vector<Json>> byCategory;
    for (Json &event : Json::parse(text)) {
      EXPECT_EQ(event["pid"], rank);
      if (event["ph"] == "X")
        byCategory[event["cat"]].push_back(event);
    }
    EXPECT_EQ(byCategory["step"].size(), 3u);
    EXPECT_EQ(byCategory["collective"].size(), 3u * 8u);
    EXPECT_EQ(byCategory["wait"].size(), 3u * 8u);
    EXPECT_GE(byCategory["compute"].size(), 3u);
    for (const Json &compute : byCategory["compute"])
      EXPECT_TRUE(std::any_of(byCategory["step"].begin(), byCategory["step"].end(),
                              [&](const Json &step) { return isWithin(compute, step); }));
    for (const char *part : {"encode", "exchange", "decode"})
      for (const Json &event : byCategory[part]) {
        EXPECT_FALSE(event["args"]["layers"].empty());
        EXPECT_TRUE(std::any_of(byCategory["collective"].begin(), byCategory["collective"].end(),
                                [&](const Json &whole) {
                                  return whole["args"]["collective"] == event["args"]["collective"] &&
                                         whole["tid"] == event["tid"] && isWithin(event, whole);
                                }))
            << event;
      }
  });
}

/// Returns the message of end_step after `body`, in a step of a job of one rank.
std::string messageAfter(const std::function<void(int64_t context, Tensor &tensor)> &body) {
  ContextPtr context;
  std::string job = uniqueJob();
  ContextSpec spec{.job = job,
                   .manifest = manifestText(1, {collectiveJson(6, "all_reduce", everybody(1),
                                                               {{.shape = {8}}}, {{"reduction", "sum"}})})};
  EXPECT_EQ(spec.create(context), CGX_OK);
  Tensor tensor(8);
  EXPECT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
  body(address(context.get()), tensor);
  EXPECT_EQ(cgx_context_end_step(context.get()), CGX_INVALID_ARGUMENT);
  return cgx_last_error();
}

void nameAndStart(int64_t context, Tensor &tensor) {
  cgx_rt_operand(context, 6, 0, address(tensor.data()), address(tensor.data()));
  cgx_rt_start(context, 6);
}

TEST(StartErrors, NamesWhatTheProgramDidWrong) {
  auto has = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
  std::string message = messageAfter([](int64_t context, Tensor &) { cgx_rt_wait(context, 6); });
  EXPECT_TRUE(has(message, "collective 6") && has(message, "did not start it")) << message;
  message = messageAfter(nameAndStart);
  EXPECT_TRUE(has(message, "collective 6") && has(message, "did not wait for it")) << message;
  message = messageAfter([](int64_t context, Tensor &tensor) {
    nameAndStart(context, tensor);
    nameAndStart(context, tensor);
  });
  EXPECT_TRUE(has(message, "started again")) << message;
  message = messageAfter([](int64_t context, Tensor &) { cgx_rt_start(context, 6); });
  EXPECT_TRUE(has(message, "operand 0 was not named")) << message;
  message = messageAfter([](int64_t context, Tensor &tensor) {
    nameAndStart(context, tensor);
    cgx_rt_wait(context, 6);
    cgx_rt_wait(context, 6);
  });
  EXPECT_TRUE(has(message, "did not start it")) << message;
}

/// The ways in which a rank leaves a job while the other rank never comes to the collective that it has
/// started.
enum class Exit { Abort, Destroy, UnknownCollective, EndStep };

class StartExitTest : public testing::TestWithParam<Exit> {};

TEST_P(StartExitTest, LeavesWithoutWaitingForThePeer) {
  std::string job = uniqueJob();
  std::string manifest = manifestText(
      2, {collectiveJson(6, "all_reduce", everybody(2), {{.shape = {100000}}}, {{"reduction", "sum"}})});
  Events left;
  std::latch haveMet(2); // a rank that left earlier would be gone for one that is still joining
  runThreads(2, [&](uint32_t rank) {
    ContextPtr context;
    ContextSpec spec{.job = job, .rank = rank, .ranks = 2, .manifest = manifest, .timeoutMs = 120000};
    EXPECT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    haveMet.arrive_and_wait();
    ASSERT_TRUE(context);
    Tensor tensor(100000);
    ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
    if (rank == 1) { // comes only when the other is gone
      EXPECT_TRUE(left.await(1)) << "rank 0 waits for it";
      nameAndStart(address(context.get()), tensor);
      cgx_rt_wait(address(context.get()), 6);
      EXPECT_NE(cgx_context_end_step(context.get()), CGX_OK);
      EXPECT_NE(std::string(cgx_last_error()).find("collective 6"), std::string::npos) << cgx_last_error();
      return;
    }
    nameAndStart(address(context.get()), tensor);
    std::this_thread::sleep_for(20ms);
    switch (GetParam()) {
    case Exit::Abort:
      cgx_context_abort(context.get(), "no more data");
      EXPECT_EQ(cgx_context_end_step(context.get()), CGX_PEER_DIED);
      EXPECT_NE(std::string(cgx_last_error()).find("no more data"), std::string::npos) << cgx_last_error();
      break;
    case Exit::UnknownCollective:
      cgx_rt_wait(address(context.get()), 99);
      EXPECT_NE(cgx_context_end_step(context.get()), CGX_OK);
      break;
    case Exit::EndStep:
      EXPECT_EQ(cgx_context_end_step(context.get()), CGX_INVALID_ARGUMENT);
      break;
    case Exit::Destroy:
      break;
    }
    context.reset();
    left.count();
  });
}

INSTANTIATE_TEST_SUITE_P(Exits, StartExitTest,
                         testing::Values(Exit::Abort, Exit::Destroy, Exit::UnknownCollective, Exit::EndStep));

// The other rank dies while a collective runs and this rank computes; the wait reports it.
TEST(StartFaults, DeathOfAPeerEndsTheWait) {
  std::string job = uniqueJob();
  std::string manifest = manifestText(
      2, {collectiveJson(6, "all_reduce", everybody(2), {{.shape = {100000}}}, {{"reduction", "sum"}}),
          collectiveJson(8, "all_reduce", everybody(2), {{.shape = {10}}}, {{"reduction", "sum"}})});
  runThreads(2, [&](uint32_t rank) {
    ContextPtr context;
    ContextSpec spec{
        .transport = "shm", .job = job, .rank = rank, .ranks = 2, .manifest = manifest, .timeoutMs = 60000};
    ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    if (rank == 1)
      return; // leaves the job as a rank that dies
    Tensor large(100000), small(10);
    Clock::time_point begin = Clock::now();
    ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
    nameAndStart(address(context.get()), large);
    cgx_rt_operand(address(context.get()), 8, 0, address(small.data()), address(small.data()));
    cgx_rt_start(address(context.get()), 8);
    // The second collective never ran, so it waits for nothing and reports the first one's error.
    cgx_rt_wait(address(context.get()), 8);
    cgx_rt_wait(address(context.get()), 6);
    EXPECT_EQ(cgx_context_end_step(context.get()), CGX_PEER_DIED);
    std::string message = cgx_last_error();
    EXPECT_NE(message.find("collective 6"), std::string::npos) << message;
    EXPECT_NE(message.find("rank 1"), std::string::npos) << message;
    EXPECT_LT(Clock::now() - begin, deadlineOf(kAtOnce));
  });
}

std::vector<Setting> settings() {
  if (isUnderMpi())
    return {{"mpi", true, mpiRanks(), 0}};
  std::vector<Setting> all;
  for (uint32_t ranks : {1u, 2u, 3u, 4u, 8u})
    all.push_back({"inproc", false, ranks, 0});
  all.push_back({"inproc", false, 3, 64});
  for (uint32_t ranks : {2u, 5u})
    all.push_back({"shm", true, ranks, 0});
  all.push_back({"shm", true, 4, 4096});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Transports, StartTest, testing::ValuesIn(settings()), [](const auto &info) {
  const Setting &setting = info.param;
  return setting.transport + std::to_string(setting.ranks) + (setting.ringBytes == 0 ? "" : "SmallRing");
});

} // namespace
} // namespace cgx::test
