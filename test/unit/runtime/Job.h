//===-- Job.h - Running a function as every rank of a job -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUNTIME_JOB_H
#define CGX_TEST_UNIT_RUNTIME_JOB_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace cgx::test {

/// The time within which waiting ranks notice that one is gone: at once, not after their timeout.
inline constexpr std::chrono::milliseconds kAtOnce{500};

/// Returns ten times the promised time, after which a test fails. A smaller excess depends on the machine,
/// and is a matter for benchmarks.
constexpr std::chrono::milliseconds deadlineOf(std::chrono::milliseconds promise) { return 10 * promise; }

/// The limit for operations that are promised without delay, which ends a test that hangs.
inline constexpr std::chrono::milliseconds kForEver{60000};

/// A counter that processes or threads of a test wait for, without a limit of their own. It is created before
/// them, and all of them see it; processes of mpirun each create their own, on one file.
class Events {
public:
  Events();
  ~Events();
  Events(const Events &) = delete;
  Events &operator=(const Events &) = delete;

  void count();
  /// Waits until it has happened so many times, at most for kForEver. Returns true if it has.
  bool await(uint32_t times) const;

private:
  struct Counter;
  Counter *counter;
};

/// Returns a name that no other job on this host has.
std::string uniqueJob();

/// Runs `body(rank)` on one thread per rank and waits for all.
void runThreads(uint32_t ranks, const std::function<void(uint32_t rank)> &body);

/// Runs `body(rank)` in one forked process per rank. Each child exits with the number of failed test
/// assertions that it saw; all are expected to exit with 0.
void runProcesses(uint32_t ranks, const std::function<void(uint32_t rank)> &body);

/// Makes a process of root one of an ordinary user, because root may open every file.
void becomeOrdinaryUser();

/// Returns true if mpirun started this process to test the job of its ranks.
bool isUnderMpi();
/// Returns the number of ranks that mpirun started.
uint32_t mpiRanks();
/// Makes every two ranks of the job a host, as seen by the transport shm+mpi.
void playHosts();
/// Gives a rank that is a process of its own a host in that way.
void playHostOf(uint32_t rank);
/// Runs `body` as the rank of this process, of `ranks` that mpirun must have started.
void runMpiRank(uint32_t ranks, const std::function<void(uint32_t rank)> &body);

/// Returns the file in which the ranks of `job` find each other over TCP.
std::string rendezvousOf(const std::string &job);

/// Returns the names of this host's shared memory objects, and of rendezvous files, that belong to `job`.
std::string leftovers(const std::string &job);

} // namespace cgx::test

#endif // CGX_TEST_UNIT_RUNTIME_JOB_H
