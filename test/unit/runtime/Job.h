//===-- Job.h - Run a function as every rank of a job ------------*- C++ -*-===//
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

/// In which a rank that is gone is noticed by those who wait for it: not after their timeout, but at once.
inline constexpr std::chrono::milliseconds kAtOnce{500};

/// A promise in time fails a test when it takes ten times as long: less is the machine's affair, and a
/// benchmark's.
constexpr std::chrono::milliseconds deadlineOf(std::chrono::milliseconds promise) { return 10 * promise; }

/// For what is promised in no time at all, and yet should end a test that hangs.
inline constexpr std::chrono::milliseconds kForEver{60000};

/// Something that one process or thread of a test waits for, however long the others take. It is made before
/// they are, and seen by all of them; processes that mpirun has started each make their own, of one file.
class Events {
public:
  Events();
  ~Events();
  Events(const Events &) = delete;
  Events &operator=(const Events &) = delete;

  void count();
  /// Whether it has happened so many times, at the latest after kForEver.
  bool await(uint32_t times) const;

private:
  struct Counter;
  Counter *counter;
};

/// A name that no other job on this host has.
std::string uniqueJob();

/// Runs `body(rank)` on one thread per rank and waits for all.
void runThreads(uint32_t ranks, const std::function<void(uint32_t rank)> &body);

/// Runs `body(rank)` in one forked process per rank. Each child exits with the number of
/// failed test assertions it saw; expects all to exit with 0.
void runProcesses(uint32_t ranks, const std::function<void(uint32_t rank)> &body);

/// Makes this process one of an ordinary user, if it is root's: root may open what nobody may.
void becomeOrdinaryUser();

/// Whether mpirun started this process, to test what runs under it: then there is one job, of the ranks that
/// mpirun started.
bool isUnderMpi();
/// How many it started.
uint32_t mpiRanks();
/// Makes each two ranks of the job a host, as far as the transport shm+mpi can tell.
void playHosts();
/// The same for a rank that is a process of its own.
void playHostOf(uint32_t rank);
/// Runs `body` as the rank that this process is, of `ranks` that mpirun must have started.
void runMpiRank(uint32_t ranks, const std::function<void(uint32_t rank)> &body);

/// Where the ranks of `job` meet over TCP: in a file.
std::string rendezvousOf(const std::string &job);

/// Names of this host's shared memory objects, and files of a rendezvous, that belong to `job`.
std::string leftovers(const std::string &job);

} // namespace cgx::test

#endif // CGX_TEST_UNIT_RUNTIME_JOB_H
