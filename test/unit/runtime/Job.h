//===-- Job.h - Run a function as every rank of a job ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TEST_UNIT_RUNTIME_JOB_H
#define CGX_TEST_UNIT_RUNTIME_JOB_H

#include <cstdint>
#include <functional>
#include <string>

namespace cgx::test {

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
