//===-- FaultTest.cpp - Every fault ends in a message ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks are processes, over shared memory and over TCP. Each reports how it ended through a pipe; the test
// then looks at what the survivors said, how long they took, and that no segment and no file is left.
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"
#include "transport/ring/Segment.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cgx::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// How a rank ended.
struct Ending {
  bool reported = false;
  cgx_status status = CGX_OK;
  std::string message;
  Clock::time_point when;
};

/// How many steps each rank of a job has ended, in memory that the test and its children share.
class StepCounts {
public:
  StepCounts() {
    void *memory = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      std::abort();
    counts = new (memory) Counts{};
  }
  ~StepCounts() { munmap(counts, sizeof(Counts)); }
  StepCounts(const StepCounts &) = delete;
  StepCounts &operator=(const StepCounts &) = delete;

  std::atomic<uint64_t> &operator[](uint32_t rank) { return (*counts)[rank]; }

private:
  using Counts = std::array<std::atomic<uint64_t>, 8>;
  Counts *counts;
};

/// Of the job that this process is a rank of; null where ranks are threads, and under mpirun.
StepCounts *ownCounts = nullptr;

/// Ranks as children of this process, which can be killed and stopped.
class ProcessJob {
public:
  /// Each child runs `body(rank)`, which returns a status and leaves its message in
  /// cgx_last_error().
  ProcessJob(uint32_t ranks, const std::function<cgx_status(uint32_t rank)> &body) {
    std::fflush(nullptr);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0)
        std::abort();
      pid_t child = fork();
      if (child == 0) {
        ownCounts = &counts;
        cgx_status status = body(rank);
        std::string report = std::to_string(Clock::now().time_since_epoch().count()) + " " +
                             char('0' + status) + std::string(cgx_last_error());
        ssize_t written = write(ends[1], report.data(), report.size());
        _exit(written == ssize_t(report.size()) ? 0 : 1);
      }
      close(ends[1]);
      children.push_back(child);
      pipes.push_back(ends[0]);
    }
  }

  ~ProcessJob() {
    for (pid_t child : children)
      kill(child, SIGKILL);
    for (size_t rank = 0; rank < children.size(); ++rank) {
      waitpid(children[rank], nullptr, 0);
      close(pipes[rank]);
    }
  }

  void signal(uint32_t rank, int number) { kill(children[rank], number); }

  /// Kills a rank, and waits until the system has let go of all that it had.
  void killNow(uint32_t rank) {
    siginfo_t info{};
    kill(children[rank], SIGKILL);
    EXPECT_EQ(waitid(P_PID, id_t(children[rank]), &info, WEXITED | WNOWAIT), 0);
  }

  /// Waits until every rank has joined and ended `steps` steps, however long a loaded machine takes for it.
  void awaitSteps(uint64_t steps) {
    const Clock::time_point end = Clock::now() + kForEver;
    for (uint32_t rank = 0; rank < children.size(); ++rank)
      while (counts[rank] < steps) {
        ASSERT_LT(Clock::now(), end) << "rank " << rank << " has ended " << counts[rank] << " steps";
        std::this_thread::sleep_for(1ms);
      }
  }

  /// Waits until all of them have joined `job`, and wait for one that is missing.
  void awaitJoined(const std::string &transport, const std::string &job) {
    const Clock::time_point end = Clock::now() + kForEver;
    std::vector<uint32_t> rests(children.size());
    std::string connections;
    while (transport == "shm" ? countJoined(job) < children.size()
                              : std::ranges::min(rests) < kRestingLooks) {
      ASSERT_LT(Clock::now(), end) << "the ranks do not come to wait";
      std::this_thread::sleep_for(10ms);
      // Over tcp nothing else shows from outside that a rank waits for others: it opens nothing more, and
      // sleeps whenever it has a processor. How often it has none is the machine's affair.
      if (std::string now = openedByAll(); now != connections) {
        connections = now;
        std::ranges::fill(rests, 0);
      }
      for (size_t rank = 0; rank < children.size(); ++rank)
        rests[rank] += sleeps(children[rank]);
    }
  }

  /// Waits for a rank's report, or its silent end, at most `limit`.
  Ending await(uint32_t rank, std::chrono::milliseconds limit) {
    Ending ending;
    pollfd waiting{.fd = pipes[rank], .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, int(limit.count())) <= 0)
      return ending;
    char text[4096];
    ssize_t length = read(pipes[rank], text, sizeof(text));
    if (length <= 0)
      return ending;
    std::string report(text, size_t(length));
    size_t space = report.find(' ');
    ending.reported = true;
    ending.when = Clock::time_point(Clock::duration(std::stoll(report))); // one clock for all processes
    ending.status = cgx_status(report[space + 1] - '0');
    ending.message = report.substr(space + 2);
    return ending;
  }

private:
  /// They take longer than any rank of a build with CGX_TEST_DELAYS waits on its way, or looks for rank 0
  /// again.
  static constexpr uint32_t kRestingLooks = 40;

  /// As the segment of a job counts them.
  static uint32_t countJoined(const std::string &job) {
    const std::string name = "/cgx-" + std::to_string(getuid()) + "-" + job;
    const int object = shm_open(name.c_str(), O_RDONLY | O_CLOEXEC, 0);
    uint32_t joined = 0;
    if (object >= 0) {
      if (pread(object, &joined, sizeof joined, offsetof(SegmentHeader, joined)) != sizeof joined)
        joined = 0;
      close(object);
    }
    return joined;
  }

  /// Whether a process neither runs, nor would if it had a processor.
  static bool sleeps(pid_t process) {
    std::string stat;
    std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), stat);
    const size_t name = stat.rfind(") ");
    return name != std::string::npos && stat[name + 2] == 'S';
  }

  /// The files and sockets that ranks have open, as text that changes with them.
  std::string openedByAll() const {
    std::string opened;
    for (pid_t child : children)
      for (std::error_code error; const auto &file : std::filesystem::directory_iterator(
                                      "/proc/" + std::to_string(child) + "/fd", error))
        opened += std::filesystem::read_symlink(file.path(), error).string() +
                  " "; // "" of what was closed just now
    return opened;
  }

  StepCounts counts;
  std::vector<pid_t> children;
  std::vector<int> pipes;
};

constexpr uint32_t kRanks = 3;

/// Over which the ranks of a ProcessJob may talk.
std::vector<std::string> processTransports() {
#ifdef CGX_HAS_TCP
  return {"shm", "tcp", "shm+tcp"};
#else
  return {"shm"};
#endif
}

std::string trainingManifest(const std::string &hash = "0123", uint32_t bits = 4, uint32_t ranks = kRanks,
                             const std::string &algorithm = "auto") {
  return manifestText(
      ranks,
      {collectiveJson(5, "all_reduce", everybody(ranks),
                      {{.shape = {100000}, .codec = quantize(bits, 128), .layer = "params/l1/w"},
                       {.shape = {100}, .layer = "params/l1/b"}},
                      {{"reduction", "mean"}, {"algorithm", algorithm}})},
      hash);
}

ContextSpec contextSpec(const std::string &job, uint32_t rank) {
  return {.transport = "shm",
          .job = job,
          .rank = rank,
          .ranks = kRanks,
          .manifest = trainingManifest(),
          .timeoutMs = 10000};
}

/// What holds over every transport whose ranks are processes; the parameter is its name.
class ProcessFault : public testing::TestWithParam<std::string> {
protected:
  ContextSpec contextSpec(const std::string &job, uint32_t rank) const {
    ContextSpec spec = test::contextSpec(job, rank);
    spec.transport = GetParam();
    return spec;
  }
};

/// Trains for `steps` steps; 0 is for ever. `before(step)` is the rank's own computation.
cgx_status train(const ContextSpec &spec, uint64_t steps,
                 const std::function<void(cgx_context *, uint64_t)> &before = {}) {
  ContextPtr context;
  if (cgx_status status = spec.create(context); status != CGX_OK)
    return status;
  std::vector<float> weight(100000, 1.0f), bias(100, 1.0f);
  for (uint64_t step = 0; steps == 0 || step < steps; ++step) {
    if (cgx_status status = cgx_context_begin_step(context.get(), step); status != CGX_OK)
      return status;
    if (before)
      before(context.get(), step);
    cgx_rt_operand(address(context.get()), 5, 0, address(weight.data()), address(weight.data()));
    cgx_rt_operand(address(context.get()), 5, 1, address(bias.data()), address(bias.data()));
    cgx_rt_run(address(context.get()), 5);
    if (cgx_status status = cgx_context_end_step(context.get()); status != CGX_OK)
      return status;
    if (ownCounts)
      ++(*ownCounts)[spec.rank];
  }
  return CGX_OK;
}

void expectEnding(const Ending &ending, cgx_status status, const std::vector<std::string> &words) {
  ASSERT_TRUE(ending.reported);
  EXPECT_EQ(ending.status, status) << ending.message;
  for (const std::string &word : words)
    EXPECT_NE(ending.message.find(word), std::string::npos) << "'" << word << "' in: " << ending.message;
}

const std::vector<std::string> kPlace = {"collective 5", "params/l1/w"};

std::vector<std::string> with(std::vector<std::string> words, const std::string &word) {
  words.push_back(word);
  return words;
}

int64_t milliseconds(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

TEST_P(ProcessFault, AKilledRankIsNamedByAllSurvivorsAtOnce) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) { return train(contextSpec(job, rank), 0); });
  ranks.awaitSteps(3);
  Clock::time_point killed = Clock::now();
  ranks.signal(1, SIGKILL);
  for (uint32_t rank : {0u, 2u}) {
    Ending ending = ranks.await(rank, kForEver);
    expectEnding(ending, CGX_PEER_DIED, with(kPlace, "rank 1 died"));
    EXPECT_LT(ending.when - killed, deadlineOf(kAtOnce)) << "rank " << rank;
    RecordProperty("milliseconds_rank_" + std::to_string(rank), int(milliseconds(ending.when - killed)));
  }
  EXPECT_EQ(leftovers(job), "");
}

TEST_P(ProcessFault, ARankKilledWhileItComputesIsNoticedByThoseWhoWait) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    return train(contextSpec(job, rank), 0, [&](cgx_context *, uint64_t step) {
      if (rank == 2 && step == 3)
        raise(SIGKILL);
    });
  });
  for (uint32_t rank : {0u, 1u})
    expectEnding(ranks.await(rank, kForEver), CGX_PEER_DIED, with(kPlace, "rank 2 died"));
  EXPECT_EQ(leftovers(job), "");
}

TEST_P(ProcessFault, ARankKilledBeforeAllHaveJoinedFailsTheOthers) {
  std::string job = uniqueJob();
  ProcessJob ranks(2, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.timeoutMs = uint32_t(kForEver.count()); // which a loaded machine may need to get there
    return train(spec, 1);
  });
  ranks.awaitJoined(GetParam(), job); // both wait for rank 2
  ranks.signal(1, SIGKILL);
  expectEnding(ranks.await(0, kForEver), CGX_PEER_DIED, {"rank 1 died before job"});
  EXPECT_EQ(leftovers(job), "");
}

// As a rank does that is stopped while it makes or joins the segment: here, the test.
TEST(Fault, ARankStoppedInItsSetUpIsNamedAndLeavesNothing) {
  std::string job = uniqueJob(), name = "/cgx-" + std::to_string(getuid()) + "-" + job;
  int object = shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(object, 0);
  struct flock asRankOne{};
  asRankOne.l_type = F_WRLCK;
  asRankOne.l_whence = SEEK_SET;
  asRankOne.l_start = 256; // the set-up lock: SegmentFile.h
  asRankOne.l_len = 2;
  ASSERT_EQ(fcntl(object, F_OFD_SETLK, &asRankOne), 0);
  ProcessJob ranks(1, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.timeoutMs = 300;
    return train(spec, 1);
  });
  expectEnding(ranks.await(0, kForEver), CGX_TIMEOUT,
               {"rank 1 did not answer: it has the set-up lock of /dev/shm" + name});
  EXPECT_EQ(leftovers(job), "");
  close(object);
}

TEST(Fault, TheSegmentOfAJobThatWasKilledWholeIsReplaced) {
  std::string job = uniqueJob();
  {
    ProcessJob ranks(2, [&](uint32_t rank) { return train(contextSpec(job, rank), 1); });
    ranks.awaitJoined("shm", job);
    ranks.signal(0, SIGKILL);
    ranks.signal(1, SIGKILL);
  }
  EXPECT_NE(leftovers(job), "") << "the test wants to see a segment replaced";
  ProcessJob ranks(kRanks, [&](uint32_t rank) { return train(contextSpec(job, rank), 3); });
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_OK, {});
  EXPECT_EQ(leftovers(job), "");
}

TEST(Fault, ARestartDoesNotMeetTheJobOfThatNameThatIsDying) {
  std::string job = uniqueJob();
  ProcessJob old(2, [&](uint32_t rank) { return train(contextSpec(job, rank), 1); });
  old.awaitJoined("shm", job); // rank 2 is missing
  old.signal(1, SIGSTOP);      // so that it cannot clear up after rank 0
  old.killNow(0);
  ProcessJob fresh(kRanks, [&](uint32_t rank) { return train(contextSpec(job, rank), 3); });
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(fresh.await(rank, kForEver), CGX_OK, {});
  old.signal(1, SIGCONT);
  expectEnding(old.await(1, kForEver), CGX_PEER_DIED, {"rank 0 died"});
  EXPECT_EQ(leftovers(job), "");
}

// Its own memory says only that nobody came there.
TEST(Fault, WhoCameAfterARankHadDiedSaysSo) {
  std::string job = uniqueJob();
  ProcessJob old(2, [&](uint32_t rank) { return train(contextSpec(job, rank), 1); });
  old.awaitJoined("shm", job); // rank 2 is missing
  old.signal(1, SIGSTOP);      // so that it cannot clear up after rank 0
  old.killNow(0);
  ProcessJob late(1, [&](uint32_t) {
    ContextSpec spec = contextSpec(job, 2);
    spec.timeoutMs = 500;
    return train(spec, 1);
  });
  expectEnding(late.await(0, kForEver), CGX_TIMEOUT,
               {"rank 0, 1 did not join", "; rank 0 had joined before this rank, and died"});
  EXPECT_EQ(leftovers(job), "");
}

TEST_P(ProcessFault, AStoppedRankIsNamedAfterTheTimeoutAndHearsOfItItself) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.timeoutMs = 700;
    return train(spec, 0);
  });
  ranks.awaitSteps(3);
  Clock::time_point stopped = Clock::now();
  ranks.signal(1, SIGSTOP);
  for (uint32_t rank : {0u, 2u}) {
    Ending ending = ranks.await(rank, kForEver);
    expectEnding(ending, CGX_TIMEOUT, with(kPlace, "rank 1 did not answer for 700 ms"));
    EXPECT_GE(milliseconds(ending.when - stopped), 600);
    EXPECT_LT(ending.when - stopped, deadlineOf(700ms));
  }
  ranks.signal(1, SIGCONT);
  expectEnding(ranks.await(1, kForEver), CGX_TIMEOUT, {"rank 1 did not answer for 700 ms"});
  EXPECT_EQ(leftovers(job), "");
}

/// Ranks that computers with other work to do let run once in a second are not silent, so the timeout is
/// longer. Jobs of processes run at once.
TEST(Fault, ARankThatWorksForLongerThanTheTimeoutIsWaitedFor) {
  const auto trainOver = [](const std::string &transport, const std::string &job, uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.transport = transport;
    spec.timeoutMs = 4000;
    return train(spec, 3, [&](cgx_context *, uint64_t step) {
      if (rank == 1 && step == 1) // like one that compiles, or writes a checkpoint
        std::this_thread::sleep_for(5000ms);
    });
  };
  const auto expectWell = [&](const std::string &transport, const std::string &job, uint32_t rank) {
    SCOPED_TRACE(transport);
    EXPECT_EQ(trainOver(transport, job, rank), CGX_OK) << cgx_last_error();
  };
  if (isUnderMpi()) {
    playHosts();
    for (const char *transport : {"mpi", "shm+mpi"})
      runMpiRank(kRanks, [&, job = uniqueJob()](uint32_t rank) { expectWell(transport, job, rank); });
    return;
  }
  std::vector<std::unique_ptr<ProcessJob>> jobs;
  for (const std::string &transport : processTransports())
    jobs.push_back(std::make_unique<ProcessJob>(
        kRanks, [=, job = uniqueJob()](uint32_t rank) { return trainOver(transport, job, rank); }));
  runThreads(kRanks, [&, job = uniqueJob()](uint32_t rank) { expectWell("inproc", job, rank); });
  for (const std::unique_ptr<ProcessJob> &ranks : jobs)
    for (uint32_t rank = 0; rank < kRanks; ++rank)
      expectEnding(ranks->await(rank, kForEver), CGX_OK, {});
}

/// Over all processes' transports at once: each takes twenty times the timeout.
TEST(Fault, ARankThatWorksForEverIsNamedAfterALongerTime) {
  std::vector<std::unique_ptr<ProcessJob>> jobs;
  for (const std::string &transport : processTransports()) {
    const std::string job = uniqueJob();
    jobs.push_back(std::make_unique<ProcessJob>(kRanks, [=](uint32_t rank) {
      ContextSpec spec = contextSpec(job, rank);
      spec.transport = transport;
      spec.timeoutMs = 1000;
      return train(spec, 0, [&](cgx_context *, uint64_t step) {
        if (rank == 1 && step == 1)
          std::this_thread::sleep_for(60s);
      });
    }));
  }
  for (const std::unique_ptr<ProcessJob> &ranks : jobs)
    for (uint32_t rank : {0u, 2u})
      expectEnding(ranks->await(rank, deadlineOf(20000ms)), CGX_TIMEOUT,
                   with(kPlace, "rank 1 did not answer for 20000 ms"));
}

/// A process that is stopped sends no heartbeats, over any transport.
TEST(Fault, AStoppedProcessIsNamedAfterTheTimeoutOverEveryTransport) {
  for (const std::string &transport : processTransports()) {
    SCOPED_TRACE(transport);
    const std::string job = uniqueJob();
    ProcessJob ranks(kRanks, [&](uint32_t rank) {
      ContextSpec spec = contextSpec(job, rank);
      spec.transport = transport;
      spec.timeoutMs = 1000;
      return train(spec, 0, [&](cgx_context *, uint64_t step) {
        if (rank == 1 && step == 5)
          raise(SIGSTOP);
      });
    });
    for (uint32_t rank : {0u, 2u})
      expectEnding(ranks.await(rank, kForEver), CGX_TIMEOUT,
                   with(kPlace, "rank 1 did not answer for 1000 ms"));
  }
}

TEST_P(ProcessFault, AForkedChildDoesNotKeepADeadRankAlive) {
  std::string job = uniqueJob();
  pid_t *child = static_cast<pid_t *>(
      mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    return train(contextSpec(job, rank), 0, [&](cgx_context *, uint64_t step) {
      if (rank != 1 || step != 5)
        return;
      const pid_t made = fork(); // like the worker of a data loader
      if (made == 0) {
        std::this_thread::sleep_for(60s);
        _exit(0);
      }
      *child = made;
      raise(SIGKILL);
    });
  });
  for (uint32_t rank : {0u, 2u}) // at once, and not after the timeout
    expectEnding(ranks.await(rank, deadlineOf(kAtOnce)), CGX_PEER_DIED, with(kPlace, "rank 1 died"));
  kill(*child, SIGKILL);
  munmap(child, sizeof(pid_t));
  EXPECT_EQ(leftovers(job), "");
}

TEST_P(ProcessFault, AStopShorterThanTheTimeoutIsNoFault) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) { return train(contextSpec(job, rank), 300); });
  ranks.awaitSteps(1);
  ranks.signal(1, SIGSTOP);
  std::this_thread::sleep_for(500ms);
  ranks.signal(1, SIGCONT);
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_OK, {});
}

TEST_P(ProcessFault, AJobThatIsSuspendedAsAWholeGoesOn) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.timeoutMs = 1500;
    return train(spec, 200, [](cgx_context *, uint64_t) { std::this_thread::sleep_for(1ms); });
  });
  ranks.awaitSteps(5);
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    ranks.signal(rank, SIGSTOP);
  std::this_thread::sleep_for(2500ms);
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    ranks.signal(rank, SIGCONT);
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_OK, {});
}

TEST_P(ProcessFault, AnAbortReachesAllRanksWithItsReason) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    return train(contextSpec(job, rank), 0, [&](cgx_context *context, uint64_t step) {
      if (rank == 0 && step == 5)
        cgx_context_abort(context, "the loss is not a number");
    });
  });
  expectEnding(ranks.await(0, kForEver), CGX_PEER_DIED, {"rank 0 aborted: the loss is not a number"});
  for (uint32_t rank : {1u, 2u})
    expectEnding(ranks.await(rank, kForEver), CGX_PEER_DIED, with(kPlace, "the loss is not a number"));
  EXPECT_EQ(leftovers(job), "");
}

TEST_P(ProcessFault, ARankThatEndsEarlyFailsTheOthers) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) { return train(contextSpec(job, rank), rank == 2 ? 4 : 0); });
  for (uint32_t rank : {0u, 1u})
    expectEnding(ranks.await(rank, kForEver), CGX_PEER_DIED, with(kPlace, "rank 2 left the job"));
}

TEST_P(ProcessFault, AnotherProgramIsAMismatchOnEveryRankThatSaysWhoHasWhat) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.manifest = trainingManifest(rank == 1 ? "beef" : "0123");
    return train(spec, 1);
  });
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_MISMATCH,
                 {"program hash: '0123' on rank 0, 2; 'beef' on rank 1"});
  EXPECT_EQ(leftovers(job), "");
}

TEST_P(ProcessFault, AnotherPlanUnderTheSameHashIsAMismatchToo) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.manifest = trainingManifest("0123", rank == 2 ? 3 : 4);
    return train(spec, 1);
  });
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_MISMATCH, {"collectives in the manifest", "on rank 2"});
}

TEST_P(ProcessFault, AnotherSeedIsAMismatchOnEveryRank) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.seed = rank == 0 ? 1 : 2;
    return train(spec, 1);
  });
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_MISMATCH, {"seed: 1 on rank 0; 2 on rank 1, 2"});
}

TEST_P(ProcessFault, AnotherStepIsAMismatch) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) -> cgx_status {
    ContextPtr context;
    ContextSpec spec = contextSpec(job, rank);
    if (cgx_status status = spec.create(context); status != CGX_OK)
      return status;
    std::vector<float> weight(100000, 1.0f), bias(100, 1.0f);
    if (cgx_status status = cgx_context_begin_step(context.get(), rank == 1 ? 8 : 7); status != CGX_OK)
      return status;
    cgx_rt_operand(address(context.get()), 5, 0, address(weight.data()), address(weight.data()));
    cgx_rt_operand(address(context.get()), 5, 1, address(bias.data()), address(bias.data()));
    cgx_rt_run(address(context.get()), 5);
    return cgx_context_end_step(context.get());
  });
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_MISMATCH, {"step 8", "step 7"});
}

TEST_P(ProcessFault, ADamagedPayloadIsRefusedAndNamesItsSender) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) -> cgx_status {
    ContextPtr context;
    if (cgx_status status = contextSpec(job, rank).create(context); status != CGX_OK)
      return status;
    if (cgx_status status = cgx_context_begin_step(context.get(), 0); status != CGX_OK)
      return status;
    int64_t self = address(context.get());
    std::vector<float> tensor(100000, 1.0f), chunk(100000);
    std::vector<std::byte> whole(100000), slots(300000), payload(100000);
    cgx_rt_compress(self, 5, 0, 0, address(tensor.data()), address(whole.data()));
    if (rank == 1)
      whole[0] ^= std::byte(0xff); // the header of what goes to rank 0
    cgx_rt_payload_all_to_all(self, 5, 0, address(whole.data()), address(slots.data()));
    cgx_rt_decompress_accumulate(self, 5, 0, address(slots.data()), address(chunk.data()));
    cgx_rt_compress(self, 5, 0, 1, address(chunk.data()), address(payload.data()));
    cgx_rt_payload_all_gather(self, 5, 0, address(payload.data()), address(whole.data()));
    return cgx_context_end_step(context.get());
  });
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_BAD_PAYLOAD, with(kPlace, "payload of rank 1"));
  EXPECT_EQ(leftovers(job), "");
}

TEST(Fault, MoreSharedMemoryThanThereIsExhaustsIt) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.ringBytes = uint64_t(1) << 40;
    return train(spec, 1);
  });
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    expectEnding(ranks.await(rank, kForEver), CGX_RESOURCE_EXHAUSTED, {"shared memory", "/dev/shm/cgx"});
  EXPECT_EQ(leftovers(job), "");
}

TEST(Fault, AFullFileSystemExhaustsSharedMemory) {
  std::string job = uniqueJob();
  constexpr auto kNotPermitted = cgx_status(CGX_INTERNAL);
  ProcessJob rank(1, [&](uint32_t) -> cgx_status {
    // A /dev/shm of its own, of which all but a page is taken.
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("small", "/dev/shm", "tmpfs", 0, "size=64k") != 0)
      return kNotPermitted;
    int filler = shm_open("/filler", O_CREAT | O_RDWR, 0600);
    if (filler < 0 || posix_fallocate(filler, 0, 60 * 1024) != 0)
      return kNotPermitted;
    ContextPtr context;
    return contextSpec(job, 0).create(context);
  });
  Ending ending = rank.await(0, kForEver);
  if (ending.reported && ending.status == kNotPermitted)
    GTEST_SKIP() << "may not mount a file system here";
  expectEnding(ending, CGX_RESOURCE_EXHAUSTED, {"shared memory"});
}

TEST(Fault, FailedStepsStayFailedAndLeaveOutputsAlone) {
  ContextPtr context;
  ContextSpec spec{.transport = "inproc",
                   .job = uniqueJob(),
                   .ranks = 1,
                   .manifest = manifestText(1, {collectiveJson(5, "all_reduce", everybody(1),
                                                               {{.shape = {4}}}, {{"reduction", "sum"}})})};
  ASSERT_EQ(spec.create(context), CGX_OK);
  float in[4] = {1, 2, 3, 4}, out[4] = {-1, -1, -1, -1};
  ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK);
  cgx_rt_run(address(context.get()), 5); // its operand has not been named
  cgx_rt_operand(address(context.get()), 5, 0, address(in), address(out));
  cgx_rt_run(address(context.get()), 5);
  EXPECT_EQ(cgx_context_end_step(context.get()), CGX_INVALID_ARGUMENT);
  EXPECT_STREQ(cgx_last_error(), "collective 5 (all_reduce of layer 'params/w'): operand 0 was not named");
  EXPECT_EQ(out[0], -1.0f);
  EXPECT_EQ(cgx_context_begin_step(context.get(), 1), CGX_INVALID_ARGUMENT) << "a failure is final";
}

#ifdef CGX_HAS_TCP

/// The connections of this process, in the order of their descriptors.
std::vector<int> openConnections() {
  std::vector<int> found;
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (getpeername(descriptor, reinterpret_cast<sockaddr *>(&peer), &length) == 0 &&
        (peer.ss_family == AF_INET || peer.ss_family == AF_INET6))
      found.push_back(descriptor);
  }
  return found;
}

// Of notes or of tensors, at any moment of a message: as when a cable is drawn or a switch restarts.
TEST(TcpFault, AConnectionThatIsLostEndsTheJobOnAllRanks) {
  constexpr uint32_t kStreams = 3, kConnections = 2 * (1 + kStreams); // notes, and streams, to two peers
  std::mt19937 random(7);
  for (uint32_t which = 0; which < kConnections; ++which) {
    SCOPED_TRACE("connection " + std::to_string(which));
    std::string job = uniqueJob();
    const auto delay = std::chrono::microseconds(random() % 3000);
    ProcessJob ranks(kRanks, [&](uint32_t rank) {
      ContextSpec spec = contextSpec(job, rank);
      spec.transport = "tcp";
      spec.streams = kStreams;
      std::thread saboteur;
      cgx_status status = train(spec, 0, [&](cgx_context *, uint64_t step) {
        if (rank != 1 || step != 3)
          return;
        const std::vector<int> connections = openConnections();
        if (connections.size() != kConnections)
          _exit(1); // which the test sees as no report
        saboteur = std::thread([=] {
          std::this_thread::sleep_for(delay);
          shutdown(connections[which], SHUT_RDWR);
        });
      });
      if (saboteur.joinable())
        saboteur.join();
      return status;
    });
    for (uint32_t rank : {0u, 2u})
      expectEnding(ranks.await(rank, kForEver), CGX_PEER_DIED, with(kPlace, "rank 1"));
    expectEnding(ranks.await(1, kForEver), CGX_PEER_DIED, kPlace);
    EXPECT_EQ(leftovers(job), "");
  }
}

TEST(TcpFault, ARankWithAnotherSecretIsNamedByTheOthers) {
  std::string job = uniqueJob();
  ProcessJob ranks(kRanks, [&](uint32_t rank) {
    ContextSpec spec = contextSpec(job, rank);
    spec.transport = "tcp";
    spec.timeoutMs = 1500;
    if (rank == 2)
      setenv("CGX_TCP_SECRET", "another secret than that of the job", /*overwrite=*/1);
    else
      setenv("CGX_TCP_SECRET", "the secret that the ranks of the job have", /*overwrite=*/1);
    return train(spec, 1);
  });
  for (uint32_t rank : {0u, 1u})
    expectEnding(ranks.await(rank, kForEver), CGX_TIMEOUT, {"rank 2 did not join", "said to be rank 2"});
  // It waits for another start of the job, which might write the file anew.
  expectEnding(ranks.await(2, kForEver), CGX_TIMEOUT,
               {"rank 0 did not join within 1500 ms: who listens at 127.0.0.1:", " has another secret"});
  EXPECT_EQ(leftovers(job), "");
}

#endif // CGX_HAS_TCP

/// Kills a random rank of a random job at a random time, or stops it for too long, some after a stop that is
/// short enough; again and again. CGX_TEST_FAULTS sets how often, CGX_TEST_SEED repeats a run.
TEST_P(ProcessFault, RandomFaultsNeverHangAndNeverLeak) {
  const char *wish = std::getenv("CGX_TEST_FAULTS"), *given = std::getenv("CGX_TEST_SEED");
  const bool overTcp = GetParam() != "shm";
  int rounds = wish ? std::atoi(wish) : overTcp ? 10 : 25; // some wait for the timeout of 3 s
  unsigned seed = given ? unsigned(std::atoi(given)) : unsigned(std::random_device()());
  std::mt19937 random(seed);
  int64_t slowest = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " with CGX_TEST_SEED=" + std::to_string(seed));
    std::string job = uniqueJob();
    uint64_t ringBytes = uint64_t(64) << random() % 13;
    uint32_t size = 2 + random() % 4, bits = 1 + random() % 8;
    const char *algorithm = std::array{"scatter_reduce_allgather", "ring", "tree", "one_shot"}[random() % 4];
    bool isStopped = random() % 8 == 0, isDelayedBefore = random() % 4 == 0;
    ProcessJob ranks(size, [&](uint32_t rank) {
      ContextSpec spec = contextSpec(job, rank);
      spec.ranks = size;
      spec.manifest = trainingManifest("0123", bits, size, algorithm);
      spec.ringBytes = ringBytes;
      spec.timeoutMs = 3000;
      return train(spec, 0);
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30000));
    uint32_t victim = random() % size;
    if (isDelayedBefore) {
      ranks.signal(victim, SIGSTOP);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
      ranks.signal(victim, SIGCONT);
    }
    Clock::time_point killed = Clock::now();
    ranks.signal(victim, isStopped ? SIGSTOP : SIGKILL);
    for (uint32_t rank = 0; rank < size; ++rank) {
      if (rank == victim)
        continue;
      // Killed before it joined, it never existed: the others wait for it until the timeout.
      // Killed while the others joined, those that came later wait in a segment of their own.
      Ending ending = ranks.await(rank, kForEver);
      ASSERT_TRUE(ending.reported) << "rank " << rank << " hangs";
      EXPECT_TRUE(ending.status == CGX_TIMEOUT || (ending.status == CGX_PEER_DIED && !isStopped))
          << ending.message;
      std::string name = std::to_string(victim); // "rank 1", or one of "rank 0, 1"
      bool named = ending.message.find("rank " + name) != std::string::npos ||
                   ending.message.find(", " + name) != std::string::npos;
      // Who came after rank 0 had given up only finds that rank 0 is not there.
      named |= overTcp && ending.message.starts_with("rank 0 did not join");
      EXPECT_TRUE(named) << ending.message;
      int64_t took = milliseconds(ending.when - killed);
      EXPECT_TRUE(ending.status == CGX_TIMEOUT || ending.when - killed < deadlineOf(kAtOnce))
          << took << " ms: " << ending.message;
      slowest = std::max(slowest, ending.status == CGX_PEER_DIED ? took : 0);
    }
    // A rank 0 that is killed before all have come leaves its file, which the next start replaces.
    if (overTcp && victim == 0)
      std::filesystem::remove(rendezvousOf(job).substr(5));
    EXPECT_EQ(leftovers(job), "");
  }
  RecordProperty("slowest_milliseconds", int(slowest));
}

INSTANTIATE_TEST_SUITE_P(Over, ProcessFault, testing::ValuesIn(processTransports()), [](const auto &info) {
  return info.param == "shm+tcp" ? std::string("shm_tcp") : info.param;
});

} // namespace
} // namespace cgx::test
