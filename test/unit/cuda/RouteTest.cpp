//===-- RouteTest.cpp - Every route delivers every payload ----------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks are threads whose GPU is emulated on the CPU, so memory that a route takes for device memory can be
// written and read here.

#include "Job.h"
#include "Programs.h"
#include "cuda/route/MessageRoute.h"
#include "cuda/route/PeerRoute.h"
#include "transport/kinds/TransportKinds.h"

#include <condition_variable>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <mutex>

namespace cgx::test {
namespace {

constexpr uint64_t kStep = 3;

struct Mail {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<std::vector<std::byte>>>
      letters; ///< by sender and receiver
};

/// A link between ranks whose numbers are equal modulo `every`.
class ThreadLink final : public DeviceLink {
public:
  ThreadLink(Mail &mail, uint32_t rank, uint32_t every) : mail(mail), rank(rank), every(every) {}

  bool reaches(uint32_t other) const override { return other % every == rank % every; }

  Status exchange(std::span<const DeviceOutgoing> outgoing, std::span<const DeviceIncoming> incoming,
                  CUstream_st *stream) override {
    EXPECT_TRUE(cuda::waitFor(stream).ok()); // it works after what is on the stream
    std::unique_lock lock(mail.mutex);
    for (const DeviceOutgoing &message : outgoing)
      mail.letters[{rank, message.peer}].emplace_back(message.memory, message.memory + message.bytes);
    mail.arrived.notify_all();
    for (const DeviceIncoming &message : incoming) {
      std::deque<std::vector<std::byte>> &letters = mail.letters[{message.peer, rank}];
      mail.arrived.wait(lock, [&] { return !letters.empty(); });
      EXPECT_EQ(letters.front().size(), message.bytes);
      std::copy(letters.front().begin(), letters.front().end(), message.memory);
      letters.pop_front();
    }
    return Status();
  }

  bool takes(const Groups &, std::span<const DeviceCollective>) const override { return false; }
  Status run(const Groups &, std::span<const DeviceCollective>, CUstream_st *) override { return Status(); }
  Status check() override { return Status(); }
  void abort() override {}

private:
  Mail &mail;
  uint32_t rank, every;
};

/// A transport that accepts device memory, as some MPI libraries do, and counts messages with it.
class DirectTransport final : public Transport {
public:
  explicit DirectTransport(std::unique_ptr<Transport> carrier) : carrier(std::move(carrier)) {}

  uint32_t rank() const override { return carrier->rank(); }
  uint32_t ranks() const override { return carrier->ranks(); }
  void post(Outgoing &message) override {
    sentFromDevice += message.onDevice;
    carrier->post(message);
  }
  void post(Incoming &message) override { carrier->post(message); }
  Status progress(bool &moved) override { return carrier->progress(moved); }
  void idle(std::chrono::microseconds limit) override { carrier->idle(limit); }
  Status checkPeers() override { return carrier->checkPeers(); }
  std::vector<Clock::duration> sinceProgress() override { return carrier->sinceProgress(); }
  void fail(const Status &reason) override { carrier->fail(reason); }
  const Status &failure() const override { return carrier->failure(); }
  uint64_t bytesSent() const override { return carrier->bytesSent(); }
  bool takesDeviceMemory(uint32_t) const override { return true; }

  uint64_t sentFromDevice = 0;

private:
  std::unique_ptr<Transport> carrier;
};

struct Setting {
  const char *name;
  uint32_t every; ///< parameter of ThreadLink; 0 if there is no link
  bool peers;
  bool direct = false; ///< whether a DirectTransport is used
};

class RouteTest : public testing::TestWithParam<std::tuple<Setting, uint32_t>> {
protected:
  const Setting &setting() const { return std::get<0>(GetParam()); }
  uint32_t ranks() const { return std::get<1>(GetParam()); }

  static std::byte pattern(uint32_t rank, uint32_t chunk, size_t operand, uint64_t index) {
    return std::byte((index * 31 + rank * 7 + chunk * 13 + operand * 101) & 0xff);
  }
  static void write(std::byte *payload, uint64_t bytes, uint32_t rank, uint32_t chunk, size_t operand) {
    for (uint64_t i = 0; i < bytes; ++i)
      payload[i] = pattern(rank, chunk, operand, i);
  }
  static void expect(const std::byte *payload, uint64_t bytes, uint32_t rank, uint32_t chunk,
                     size_t operand) {
    for (uint64_t i = 0; i < bytes; ++i)
      ASSERT_EQ(payload[i], pattern(rank, chunk, operand, i))
          << "byte " << i << " of chunk " << chunk << ", operand " << operand << ", from rank " << rank;
  }

  /// Runs a schedule once: contributions step by step in its order, then results to all ranks.
  void run(PayloadRoute &route, Execution &execution, const DeviceSchedule &schedule, uint32_t salt) const {
    const PayloadLayout &out = schedule.contributions, &back = schedule.results;
    const uint32_t self = execution.self();
    for (size_t i = 0; i < out.operands(); ++i)
      for (uint32_t chunk = 0; chunk < ranks(); ++chunk)
        write(route.contribution(i, chunk), out.payload(i, chunk), self + salt, chunk, i);
    for (uint32_t round = 0; round < schedule.steps.contributions.size(); ++round) {
      const Status status = route.scatter(execution, round, nullptr);
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_TRUE(cuda::waitFor(nullptr).ok());
      forEachChunk(schedule.steps.contributions[round].receives,
                   [&](const Transfer &transfer, uint32_t chunk) {
                     for (size_t i = 0; i < out.operands(); ++i)
                       expect(route.received(i, transfer.from, chunk), out.payload(i, chunk),
                              transfer.from + salt, chunk, i);
                   });
    }
    for (size_t i = 0; i < out.operands(); ++i)
      expect(route.received(i, self, self), out.payload(i, self), self + salt, self, i);
    for (size_t i = 0; i < out.operands(); ++i)
      write(route.ownResult(i), back.payload(i, self), self + salt + 100, self, i);
    const Status status = route.gather(execution, nullptr);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(cuda::waitFor(nullptr).ok());
    for (size_t i = 0; i < out.operands(); ++i)
      for (uint32_t chunk = 0; chunk < ranks(); ++chunk)
        expect(route.result(i, chunk), back.payload(i, chunk), chunk + salt + 100, chunk, i);
  }

  void runRank(uint32_t rank, const std::string &job, Mail &mail) const {
    const std::vector<OperandSpec> specs = {{.shape = {5003}, .codec = quantize(4, 128)},
                                            {.shape = {1}, .codec = quantize(2, 64)},
                                            {.type = CGX_BF16, .shape = {300}, .codec = quantize(8, 512)}};
    const std::string manifest = manifestText(
        ranks(), {collectiveJson(0, "all_reduce", everybody(ranks()), specs, {{"reduction", "sum"}})});
    Result<Program> program = Program::parse(manifest.c_str(), ranks());
    ASSERT_TRUE(program.ok()) << program.status().message();
    Result<std::unique_ptr<Transport>> transport =
        connectTransport("inproc", {.job = job, .rank = rank, .ranks = ranks()});
    ASSERT_TRUE(transport.ok()) << transport.status().message();
    if (setting().direct)
      *transport = std::make_unique<DirectTransport>(std::move(*transport));
    if (setting().every != 0)
      (*transport)->carryDeviceLink(std::make_unique<ThreadLink>(mail, rank, setting().every));
    Telemetry telemetry(*program);
    ProgramState state(*program, rank);
    Scratch scratch;
    const CollectiveInfo &collective = program->collectives[0];
    Execution execution{.transport = **transport,
                        .timeout = std::chrono::seconds(20),
                        .collective = collective,
                        .group = groupOf(collective.groups, rank),
                        .seed = 1,
                        .step = kStep,
                        .scratch = scratch,
                        .states = state.operandsOf(0),
                        .counters = telemetry.collectives[0]};
    // Payloads have different lengths in both phases, in one of them, or on one rank only.
    for (const auto &[out, back] : {std::pair(~0u, ~0u), {~0u, 0u}, {0u, ~0u}, {0u, 1u}})
      for (uint32_t algorithm : {CGX_ALGORITHM_AUTO, CGX_ALGORITHM_RING, CGX_ALGORITHM_HALVING_DOUBLING}) {
        // Chunks without an owner have empty payloads.
        const bool isHalving = algorithm == CGX_ALGORITHM_HALVING_DOUBLING;
        const uint32_t owned = isHalving ? (1u << cgx_power_below(ranks())) - 1 : ~0u;
        ASSERT_NO_FATAL_FAILURE(runRoute(
            execution, scheduleOfSizes(rank, sizes(out & owned, 100), sizes(back & owned, 70), algorithm)));
      }
    if (setting().direct) {
      EXPECT_NE(static_cast<DirectTransport &>(**transport).sentFromDevice, 0);
    }
  }

  DeviceSchedule scheduleOfSizes(uint32_t rank, const PayloadSizes &out, const PayloadSizes &back,
                                 uint32_t algorithm) const {
    const cgx_collective collective{.ranks = ranks(), .schedule = {.algorithm = algorithm}};
    return {PayloadLayout(out), PayloadLayout(back), scheduleOf(cgx_pattern_of(&collective), rank)};
  }

  /// Returns payload sizes: `bytes` for the chunks in the set of bits `chunks`, and 0 for the others.
  PayloadSizes sizes(uint32_t chunks, uint64_t bytes) const {
    PayloadSizes sizes;
    for (uint64_t chunk = 0; chunk < ranks(); ++chunk)
      sizes.push_back(chunks >> chunk & 1
                          ? std::vector{(ranks() - chunk) * bytes, uint64_t(chunk), uint64_t(64)}
                          : std::vector<uint64_t>(3));
    return sizes;
  }

  void runRoute(Execution &execution, const DeviceSchedule &schedule) const {
    Result<std::unique_ptr<PayloadRoute>> route =
        setting().peers ? PeerRoute::make(execution, schedule) : MessageRoute::make(execution, schedule);
    ASSERT_TRUE(route.ok() && *route);
    uint64_t expected = 0, sent = 0;
    for (const auto &[steps, layout] : {std::pair(&schedule.steps.contributions, &schedule.contributions),
                                        {&schedule.steps.results, &schedule.results}})
      for (const Step &step : *steps)
        forEachChunk(step.sends, [&](const Transfer &, uint32_t chunk) {
          for (size_t i = 0; i < 3; ++i)
            expected += layout->payload(i, chunk);
        });
    for (size_t i = 0; i < 3; ++i)
      execution.counters.operands[i].wireBytes = 0;
    for (uint32_t repetition = 0; repetition < 3; ++repetition)
      ASSERT_NO_FATAL_FAILURE(run(**route, execution, schedule, repetition));
    for (const OperandCounters &operand : execution.counters.operands)
      sent += operand.wireBytes;
    EXPECT_EQ(sent, 3 * expected);
    EXPECT_EQ((*route)->isCapturable(), setting().every == 1);
  }
};

TEST_P(RouteTest, BringsPayloadsWhereTheyBelong) {
  const std::string job = uniqueJob();
  Mail mail;
  runThreads(ranks(), [&](uint32_t rank) { runRank(rank, job, mail); });
}

INSTANTIATE_TEST_SUITE_P(
    Settings, RouteTest,
    testing::Combine(testing::Values(Setting{"staged", 0, false}, Setting{"linked", 1, false},
                                     Setting{"both", 2, false}, Setting{"peers", 0, true},
                                     Setting{"direct", 0, false, true},
                                     Setting{"linkedAndDirect", 2, false, true}),
                     testing::Values(2u, 3u, 5u)),
    [](const auto &setting) {
      return std::string(std::get<0>(setting.param).name) + "_" + std::to_string(std::get<1>(setting.param));
    });

} // namespace
} // namespace cgx::test
