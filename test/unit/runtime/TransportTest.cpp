//===-- TransportTest.cpp - Requirements of every transport -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conformance suite: a new transport adds itself to the list of settings at the
// end, and runs all of it.
//
//===----------------------------------------------------------------------===//

#include "Job.h"
#include "context/Gather.h"
#include "transport/MessageBatch.h"
#include "transport/WaitLoop.h"
#include "transport/kinds/TransportKinds.h"

#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace cgx::test {
namespace {

using namespace std::chrono_literals;

struct Setting {
  const char *name;
  const char *transport;
  bool processes;
  uint64_t ringBytes;
  uint32_t streams = 0; ///< streams of tcp
  const char *tls = "";
};

constexpr uint32_t kRanks = 3;

class TransportTest : public testing::TestWithParam<Setting> {
protected:
  using Bytes = std::vector<std::byte>;

  Result<std::unique_ptr<Transport>> connect(uint32_t rank, uint32_t ranks = kRanks) const {
    TransportConfig config{
        .job = job,
        .rank = rank,
        .ranks = ranks,
        .timeout = timeout,
        .ringBytes = GetParam().ringBytes,
        .tcp = {.rendezvous = rendezvousOf(job), .tls = GetParam().tls, .streams = GetParam().streams}};
    if (GetParam().transport == std::string("shm+tcp"))
      playHostOf(rank);
    return connectTransport(GetParam().transport, config);
  }

  void asEveryRank(uint32_t ranks, const std::function<void(uint32_t)> &body) {
    if (isUnderMpi())
      runMpiRank(ranks, body);
    else if (GetParam().processes)
      runProcesses(ranks, body);
    else
      runThreads(ranks, body);
    EXPECT_EQ(leftovers(job), "");
  }

  /// Runs body(transport) as every rank of a connected job. With `failure`, ranks that are still connecting
  /// to those of their host may see the failure of a rank on another host.
  void runJob(const std::function<void(Transport &)> &body, uint32_t ranks = kRanks,
              const std::string &failure = "") {
    asEveryRank(ranks, [&](uint32_t rank) {
      Result<std::unique_ptr<Transport>> transport = connect(rank, ranks);
      if (!failure.empty() && !transport.ok() && transport.status().message() == failure)
        return;
      ASSERT_TRUE(transport.ok()) << transport.status().message();
      body(**transport);
    });
  }

  /// Returns `bytes`, but at most what passes through a small ring in two hundred turns: each turn needs a
  /// change of threads, which can be slow on one core.
  static size_t atMostManyRings(size_t bytes) {
    const uint64_t ring = GetParam().ringBytes;
    return ring == 0 ? bytes : std::min<size_t>(bytes, 200 * ring + 7);
  }

  static Bytes pattern(uint32_t from, uint32_t to, size_t size) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i)
      bytes[i] = std::byte((i * 31 + from * 7 + to * 13) & 0xff);
    return bytes;
  }

  static Tag tag(uint32_t collective, uint16_t phase = 0) {
    return {.step = 4, .collective = collective, .phase = phase, .part = 0};
  }

  std::string job = uniqueJob();
  std::chrono::milliseconds timeout = 20000ms;
};

testing::AssertionResult failsWith(const Status &status, cgx_status code, const std::string &text) {
  if (status.getCode() == code && status.message().find(text) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << status.getCode() << ": " << status.message();
}

TEST_P(TransportTest, MessagesOfEverySizeArriveWhole) {
  runJob([](Transport &transport) {
    uint32_t collective = 0;
    for (size_t length : {0u, 1u, 31u, 32u, 33u, 63u, 64u, 65u, 4095u, 4097u, 262144u, 300007u, 1000000u}) {
      const size_t size = atMostManyRings(length);
      std::vector<Bytes> sent(kRanks), received(kRanks, Bytes(size));
      MessageBatch exchange(transport, 20000ms);
      for (uint32_t peer = 0; peer < kRanks; ++peer) {
        if (peer == transport.rank())
          continue;
        sent[peer] = pattern(transport.rank(), peer, size);
        exchange.receive(peer, tag(collective), {received[peer]});
        exchange.send(peer, tag(collective), {sent[peer]});
      }
      Status status = exchange.finish();
      ASSERT_TRUE(status.ok()) << status.message();
      for (uint32_t peer = 0; peer < kRanks; ++peer)
        ASSERT_TRUE(peer == transport.rank() || received[peer] == pattern(peer, transport.rank(), size))
            << size << " bytes from " << peer;
      ++collective;
    }
  });
}

TEST_P(TransportTest, PiecesAreGatheredAndScattered) {
  runJob(
      [](Transport &transport) {
        uint32_t peer = 1 - transport.rank();
        Bytes whole = pattern(0, 0, 1000), received(1000);
        std::span<const std::byte> out(whole);
        std::span<std::byte> in(received);
        MessageBatch exchange(transport, 20000ms);
        exchange.send(peer, tag(1), {out.first(0), out.first(1), out.subspan(1, 600), out.subspan(601)});
        exchange.receive(peer, tag(1), {in.first(333), in.subspan(333, 0), in.subspan(333)});
        Status status = exchange.finish();
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(received == whole);
      },
      2);
}

/// CGX_MPI_GPU declares that MPI can read GPU memory; here host memory takes its place.
TEST_P(TransportTest, MessagesInTheMemoryOfGpusArriveWhole) {
  runJob([](Transport &transport) {
    const size_t size = atMostManyRings(300007);
    const char *given = getenv("CGX_MPI_GPU");
    const bool isTaken = isUnderMpi() && given && given == std::string("1");
    for (uint32_t peer = 0; peer < kRanks; ++peer) {
      // Shared memory carries the messages within hosts.
      if (peer != transport.rank() && GetParam().transport == std::string("mpi")) {
        EXPECT_EQ(transport.takesDeviceMemory(peer), isTaken);
      }
    }
    for (uint32_t collective = 0; collective < 3; ++collective) {
      std::vector<Bytes> sent(kRanks), received(kRanks, Bytes(size));
      MessageBatch exchange(transport, 20000ms);
      for (uint32_t peer = 0; peer < kRanks; ++peer) {
        if (peer == transport.rank())
          continue;
        const bool onDevice = transport.takesDeviceMemory(peer);
        sent[peer] = pattern(transport.rank(), peer, received[peer].size());
        const std::span<const std::byte> out(sent[peer]);
        const std::span<std::byte> in(received[peer]);
        exchange.receive(peer, tag(collective), {in.first(5), in.subspan(5, 0), in.subspan(5)}, onDevice);
        exchange.send(peer, tag(collective), {out.first(5), out.subspan(5, 0), out.subspan(5)}, onDevice);
      }
      Status status = exchange.finish();
      ASSERT_TRUE(status.ok()) << status.message();
      for (uint32_t peer = 0; peer < kRanks; ++peer)
        ASSERT_TRUE(peer == transport.rank() || received[peer] == pattern(peer, transport.rank(), size))
            << "from " << peer;
    }
    EXPECT_EQ(transport.bytesSent(), 3 * (kRanks - 1) * size);
  });
}

TEST_P(TransportTest, MessagesAreMatchedByTagNotByArrival) {
  runJob(
      [](Transport &transport) {
        constexpr uint32_t count = 20;
        uint32_t peer = 1 - transport.rank();
        std::vector<Bytes> sent, received;
        for (uint32_t i = 0; i < count; ++i) {
          sent.push_back(pattern(i, i, 100 + i * 50));
          received.emplace_back(sent[i].size());
        }
        MessageBatch sending(transport, 20000ms);
        for (uint32_t i = 0; i < count; ++i)
          sending.send(peer, tag(i, uint16_t(i % 3)), {sent[i]});
        // The messages are received one at a time, in another order, so that the others are set aside.
        for (uint32_t j = 0; j < count; ++j) {
          uint32_t i = (j * 7 + 5) % count;
          MessageBatch receiving(transport, 20000ms);
          receiving.receive(peer, tag(i, uint16_t(i % 3)), {received[i]});
          Status status = receiving.finish();
          ASSERT_TRUE(status.ok()) << status.message();
          EXPECT_TRUE(received[i] == sent[i]) << i;
        }
        Status status = sending.finish();
        ASSERT_TRUE(status.ok()) << status.message();
      },
      2);
}

TEST_P(TransportTest, EqualTagsKeepTheOrderOfPosting) {
  runJob(
      [](Transport &transport) {
        uint32_t peer = 1 - transport.rank();
        std::vector<Bytes> sent = {pattern(1, 0, 500), pattern(2, 0, 500), pattern(3, 0, 500)};
        std::vector<Bytes> received(3, Bytes(500));
        Bytes last = pattern(4, 0, 10), lastReceived(10);
        MessageBatch sending(transport, 20000ms);
        for (const Bytes &bytes : sent)
          sending.send(peer, tag(1), {bytes});
        sending.send(peer, tag(2), {last});
        MessageBatch early(transport, 20000ms); // sets the other messages aside first
        early.receive(peer, tag(2), {lastReceived});
        ASSERT_TRUE(early.finish().ok());
        for (Bytes &bytes : received) {
          MessageBatch receiving(transport, 20000ms);
          receiving.receive(peer, tag(1), {bytes});
          ASSERT_TRUE(receiving.finish().ok());
        }
        ASSERT_TRUE(sending.finish().ok());
        EXPECT_TRUE(received == sent && lastReceived == last);
      },
      2);
}

/// Waits until `ready()` is not null, and returns it.
template <typename Ready> auto await(Transport &transport, std::chrono::milliseconds timeout, Ready ready) {
  WaitLoop waiting(transport, timeout);
  for (;;) {
    if (auto found = ready())
      return found;
    if (Status status = waiting.turn(/*worked=*/false, [] { return std::set<uint32_t>(); }); !status.ok()) {
      ADD_FAILURE() << status.message();
      return decltype(ready())();
    }
  }
}

TEST_P(TransportTest, EagerMessagesArriveInOrderOnEachLane) {
  runJob([](Transport &transport) {
    EagerSlots *eagerSlots = transport.eagerSlots();
    if (!eagerSlots)
      return;                       // nobody uses them then
    constexpr uint32_t count = 100; // more than there is memory for
    std::vector<uint32_t> others;
    for (uint32_t peer = 0; peer < kRanks; ++peer)
      if (peer != transport.rank())
        others.push_back(peer);
    uint64_t sent = 0;
    for (uint32_t i = 0; i < count; ++i) {
      // Each rank gets an eager message of its own on lane 0, and all get one on lane 1.
      size_t size = i % 7 == 0 ? eagerSlots->capacity() : 1 + i * 37;
      for (uint32_t peer : others) {
        std::byte *memory = await(transport, 20000ms, [&] { return eagerSlots->reserve(0); });
        ASSERT_TRUE(memory);
        ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
        std::ranges::copy(pattern(transport.rank(), peer, size), memory);
        eagerSlots->send(0, tag(i), size, {&peer, 1});
      }
      std::byte *memory = await(transport, 20000ms, [&] { return eagerSlots->reserve(1); });
      ASSERT_TRUE(memory);
      std::ranges::copy(pattern(transport.rank(), 99, size), memory);
      eagerSlots->send(1, tag(i, 1), size, others);
      sent += 4 * size;
      for (uint32_t peer : others)
        for (uint16_t lane : {1, 0}) {
          const EagerMessage *eager =
              await(transport, 20000ms, [&] { return eagerSlots->front(peer, lane); });
          ASSERT_TRUE(eager);
          EXPECT_TRUE(eager->tag == tag(i, lane)) << describe(eager->tag);
          EXPECT_TRUE(std::ranges::equal(eager->bytes, pattern(peer, lane ? 99 : transport.rank(), size)));
          eagerSlots->release(peer, lane);
        }
    }
    EXPECT_EQ(transport.bytesSent(), sent);
  });
}

TEST_P(TransportTest, ASleeperIsWokenByAnEagerMessageAndByItsRelease) {
  runJob(
      [](Transport &transport) {
        EagerSlots *eagerSlots = transport.eagerSlots();
        if (!eagerSlots)
          return;
        uint32_t peer = 1 - transport.rank(), sent = 0;
        if (transport.rank() == 0) {
          std::this_thread::sleep_for(30ms);
          for (; eagerSlots->reserve(0); ++sent) // until all memory is in use
            eagerSlots->send(0, tag(sent), 8, {&peer, 1});
          EXPECT_GT(sent, 1u);
          EXPECT_TRUE(await(transport, 20000ms, [&] { return eagerSlots->reserve(0); }));
          eagerSlots->send(0, tag(sent), 8, {&peer, 1});
          return;
        }
        EXPECT_TRUE(await(transport, 20000ms, [&] { return eagerSlots->front(peer, 0); }));
        std::this_thread::sleep_for(30ms);
        eagerSlots->release(peer, 0);
        for (; !eagerSlots->hasLeft(peer) || eagerSlots->front(peer, 0); ++sent) {
          bool moved = false;
          (void)transport.progress(moved);
          (void)transport.checkPeers();
          if (eagerSlots->front(peer, 0))
            eagerSlots->release(peer, 0);
        }
      },
      2);
}

TEST_P(TransportTest, SentBytesAreCountedWithoutHeaders) {
  runJob(
      [](Transport &transport) {
        uint32_t peer = 1 - transport.rank();
        Bytes sent(12345), received(12345);
        MessageBatch exchange(transport, 20000ms);
        exchange.send(peer, tag(1), {sent});
        exchange.receive(peer, tag(1), {received});
        ASSERT_TRUE(exchange.finish().ok());
        EXPECT_EQ(transport.bytesSent(), 12345u);
      },
      2);
}

TEST_P(TransportTest, AnotherLengthIsAMismatchOnBothSides) {
  runJob(
      [](Transport &transport) {
        uint32_t peer = 1 - transport.rank();
        Bytes sent(transport.rank() == 0 ? 100 : 200), received(200);
        MessageBatch exchange(transport, 20000ms);
        exchange.receive(peer, tag(1), {received});
        exchange.send(peer, tag(1), {sent});
        // Rank 0 has everything that it needs, and may or may not see rank 1's failure.
        Status status = exchange.finish();
        EXPECT_TRUE(transport.rank() == 0 ||
                    failsWith(status, CGX_MISMATCH, "expected 200 bytes from rank 0"));
        MessageBatch next(transport, 20000ms);
        next.receive(peer, tag(2), {received});
        EXPECT_TRUE(failsWith(next.finish(), CGX_MISMATCH, "expected 200 bytes from rank 0"));
      },
      2);
}

TEST_P(TransportTest, ARankInAnotherStepIsAMismatch) {
  runJob(
      [](Transport &transport) {
        uint32_t peer = 1 - transport.rank();
        Bytes sent(100), received(100);
        Tag own{.step = 5 + transport.rank(), .collective = 1, .phase = 0, .part = 0};
        MessageBatch exchange(transport, 20000ms);
        exchange.receive(peer, own, {received});
        exchange.send(peer, own, {sent});
        EXPECT_TRUE(failsWith(exchange.finish(), CGX_MISMATCH, "step 6"));
      },
      2);
}

TEST_P(TransportTest, WhatARankSentBeforeItLeftArrives) {
  runJob(
      [this](Transport &transport) {
        size_t size = GetParam().ringBytes == 64 ? 16 : 3000;
        if (transport.rank() == 0) {
          Bytes sent = pattern(0, 1, size);
          MessageBatch exchange(transport, 20000ms);
          exchange.send(1, tag(1), {sent});
          ASSERT_TRUE(exchange.finish().ok());
          return;
        }
        std::this_thread::sleep_for(50ms);
        Bytes received(size);
        MessageBatch exchange(transport, 20000ms);
        exchange.receive(0, tag(1), {received});
        Status status = exchange.finish();
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(received == pattern(0, 1, size));
      },
      2);
}

TEST_P(TransportTest, WaitingForARankThatLeftFailsAtOnce) {
  runJob([](Transport &transport) {
    if (transport.rank() == 1)
      return;
    Bytes received(10);
    auto begin = Clock::now();
    MessageBatch exchange(transport, 20000ms);
    exchange.receive(1, tag(1), {received});
    EXPECT_TRUE(failsWith(exchange.finish(), CGX_PEER_DIED, "rank 1 left the job"));
    EXPECT_LT(Clock::now() - begin, deadlineOf(kAtOnce));
  });
}

TEST_P(TransportTest, SendingToARankThatLeftFailsWhenTheRingIsFull) {
  runJob([](Transport &transport) {
    if (transport.rank() == 1)
      return;
    Bytes sent(10000000);
    MessageBatch exchange(transport, 20000ms);
    exchange.send(1, tag(1), {sent});
    EXPECT_TRUE(failsWith(exchange.finish(), CGX_PEER_DIED, "rank 1 left the job"));
  });
}

TEST_P(TransportTest, AFailureReachesAllRanksWithItsReason) {
  const std::string reason = "rank 2 gave up: layer 'w' is broken";
  const auto body = [&](Transport &transport) {
    if (transport.rank() == 2) {
      transport.fail(Status(CGX_BAD_PAYLOAD, "layer 'w' is broken"));
      EXPECT_TRUE(failsWith(transport.failure(), CGX_BAD_PAYLOAD, "layer 'w' is broken"));
      return;
    }
    Bytes received(10);
    MessageBatch exchange(transport, 20000ms);
    exchange.receive(1 - transport.rank(), tag(1), {received}); // which is never sent
    EXPECT_TRUE(failsWith(exchange.finish(), CGX_BAD_PAYLOAD, reason));
    MessageBatch later(transport, 20000ms); // the failure persists
    later.receive(1 - transport.rank(), tag(2), {received});
    EXPECT_TRUE(failsWith(later.finish(), CGX_BAD_PAYLOAD, "layer 'w' is broken"));
  };
  runJob(body, kRanks, reason);
}

TEST_P(TransportTest, ASilentRankIsNamedAfterTheTimeout) {
  Events named;
  runJob([&](Transport &transport) {
    if (transport.rank() == 2) {
      EXPECT_TRUE(named.await(2)); // It computes, and does not communicate.
      bool moved = false;
      EXPECT_TRUE(failsWith(transport.progress(moved), CGX_TIMEOUT, "rank 2 did not answer"));
      return;
    }
    // Rank 0 waits for rank 1, which waits for rank 2, so both must blame rank 2.
    Bytes received(10);
    auto begin = Clock::now();
    MessageBatch exchange(transport, 1000ms);
    exchange.receive(transport.rank() + 1, tag(1), {received});
    EXPECT_TRUE(failsWith(exchange.finish(), CGX_TIMEOUT, "rank 2 did not answer for 1000 ms"));
    EXPECT_GE(Clock::now() - begin, 900ms);
    EXPECT_LT(Clock::now() - begin, deadlineOf(1000ms));
    named.count();
  });
}

/// A size for which there is no memory. Under a sanitizer, operator new ends the process where it would
/// otherwise throw, so the size is then one that no vector has.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static constexpr uint64_t kTooManyBytes = uint64_t{1} << 63;
#else
static constexpr uint64_t kTooManyBytes = uint64_t{1} << 60;
#endif

TEST_P(TransportTest, ASizeForWhichThereIsNoMemoryFailsTheGatherOnEveryRank) {
  runJob(
      [](Transport &transport) {
        const std::string words = "rank 0 has no memory for what the ranks hand over: 4, " +
                                  std::to_string(kTooManyBytes) + " bytes";
        if (transport.rank() == 0) {
          const Bytes own(4);
          EXPECT_TRUE(failsWith(gather(transport, 20000ms, 0, own).status(), CGX_RESOURCE_EXHAUSTED, words));
          return;
        }
        // The size in a message from a rank that sends too much, or whose header is damaged.
        const uint64_t size = kTooManyBytes;
        Bytes never(10);
        MessageBatch exchange(transport, 20000ms);
        exchange.send(0, Tag{.collective = 0xfffffffe}, {std::as_bytes(std::span(&size, 1))});
        exchange.receive(0, tag(1), {never});
        EXPECT_TRUE(failsWith(exchange.finish(), CGX_RESOURCE_EXHAUSTED, words)); // at once
      },
      2);
}

TEST_P(TransportTest, RanksThatWaitForEachOtherSaySo) {
  runJob(
      [](Transport &transport) {
        Bytes received(10);
        MessageBatch exchange(transport, 2000ms);
        exchange.receive(1 - transport.rank(), tag(1), {received});
        EXPECT_TRUE(failsWith(exchange.finish(), CGX_TIMEOUT, "waits as well"));
      },
      2);
}

TEST_P(TransportTest, AMissingRankIsNamedAfterTheTimeout) {
  // Long enough for the other two to find each other on a loaded machine once both are there.
  timeout = 1000ms;
  Events areThere;
  asEveryRank(2, [&](uint32_t rank) {
    areThere.count();
    ASSERT_TRUE(isUnderMpi() || areThere.await(2));
    EXPECT_TRUE(failsWith(connect(rank, 3).status(), CGX_TIMEOUT, "rank 2 did not join"));
  });
}

TEST_P(TransportTest, AnotherNumberOfRanksIsAMismatchOnEveryRank) {
  asEveryRank(3, [&](uint32_t rank) {
    EXPECT_TRUE(
        failsWith(connect(rank, rank == 1 ? 4 : 3).status(), CGX_MISMATCH, "differ in the number of ranks"));
  });
}

/// Tests in which ranks of one process use two transports at once.
class ThreadTransportTest : public TransportTest {};

TEST_P(ThreadTransportTest, ARankThatIsThereTwiceIsRefused) {
  timeout = 1000ms;
  std::thread first(
      [&] { EXPECT_TRUE(failsWith(connect(0, 2).status(), CGX_TIMEOUT, "rank 1 did not join")); });
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(failsWith(connect(0, 2).status(), CGX_INVALID_ARGUMENT, "rank 0 has joined"));
  first.join();
}

TEST_P(TransportTest, RanksOutOfRangeAreRefused) {
  EXPECT_TRUE(failsWith(connect(3, 3).status(), CGX_INVALID_ARGUMENT, "expected a rank below 3, got 3"));
  EXPECT_TRUE(failsWith(connect(0, 0).status(), CGX_INVALID_ARGUMENT, "at least 1 rank"));
  EXPECT_TRUE(failsWith(connect(0, 1000000).status(), CGX_INVALID_ARGUMENT, "at most 256 ranks"));
  EXPECT_TRUE(
      failsWith(connectTransport("smoke", {}).status(), CGX_INVALID_ARGUMENT,
                "transports inproc, shm, mpi, shm+mpi, tcp, shm+tcp, nccl, nccl+mpi, nccl+tcp, got 'smoke'"));
}

TEST_P(TransportTest, AJobNameCanBeUsedAgain) {
  for (int repetition = 0; repetition < 20; ++repetition)
    runJob([](Transport &transport) {
      uint32_t next = (transport.rank() + 1) % kRanks, previous = (transport.rank() + 2) % kRanks;
      Bytes sent(100, std::byte(1)), received(100);
      MessageBatch exchange(transport, 20000ms);
      exchange.receive(previous, tag(1), {received});
      exchange.send(next, tag(1), {sent});
      ASSERT_TRUE(exchange.finish().ok());
      EXPECT_TRUE(received == sent);
    });
}

TEST_P(TransportTest, ManyRanksComeTogether) {
  runJob(
      [](Transport &transport) {
        for (uint32_t collective = 0; collective < 20; ++collective) {
          std::vector<Bytes> received(16, Bytes(1000));
          Bytes sent = pattern(transport.rank(), 0, 1000);
          MessageBatch exchange(transport, 20000ms);
          for (uint32_t peer = 0; peer < 16; ++peer)
            if (peer != transport.rank()) {
              exchange.receive(peer, tag(collective), {received[peer]});
              exchange.send(peer, tag(collective), {sent});
            }
          Status status = exchange.finish();
          ASSERT_TRUE(status.ok()) << status.message();
          for (uint32_t peer = 0; peer < 16; ++peer)
            ASSERT_TRUE(peer == transport.rank() || received[peer] == pattern(peer, 0, 1000));
        }
      },
      16);
}

std::vector<Setting> settings() {
  if (isUnderMpi()) { // test/integration/mpi chooses the tests that make sense there
    playHosts();
    return {{"Mpi", "mpi", true, 0}, {"ShmMpi", "shm+mpi", true, 0}};
  }
  std::vector<Setting> all = {{"Inproc", "inproc", false, 0},
                              {"InprocTinyRing", "inproc", false, 64},
                              {"ShmThreads", "shm", false, 4096},
                              {"ShmProcesses", "shm", true, 0},
                              {"ShmProcessesTinyRing", "shm", true, 64}};
#ifdef CGX_HAS_TCP
  all.insert(all.end(), {{"TcpThreads", "tcp", false, 0},
                         {"TcpProcesses", "tcp", true, 0},
                         {"TcpThreeStreams", "tcp", true, 0, 3},
                         {"TcpTls", "tcp", true, 0, 2, "psk"},
                         {"ShmTcp", "shm+tcp", true, 0}});
#endif
  return all;
}

std::vector<Setting> settingsOfThreads() {
  std::vector<Setting> all = settings();
  std::erase_if(all, [](const Setting &each) { return each.processes; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Settings, TransportTest, testing::ValuesIn(settings()),
                         [](const auto &info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Settings, ThreadTransportTest, testing::ValuesIn(settingsOfThreads()),
                         [](const auto &info) { return info.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ThreadTransportTest); // there are none under mpirun

} // namespace
} // namespace cgx::test
