//===-- cgx/run/Launch.h - Starting and watching ranks ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There are four ways to run the ranks of a job. Each returns the outcomes of all ranks, or
// throws one Error that names every rank that failed and why, causes before consequences.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LAUNCH_H
#define CGX_RUN_LAUNCH_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// An exception that says that a signal ended the run before a step was complete.
struct Interrupted {
  int signal;
};

/// Runs one thread per rank, in this process.
std::vector<Outcome> runThreads(const Job &job);

/// Runs one forked process per rank. A rank that dies is reported with its signal. The others end within the
/// job's timeout and a few seconds, and none outlives the call or this process.
std::vector<Outcome> runProcesses(const Job &job);

/// Runs this process as one rank of a job whose ranks were all started on this host by a launcher. The others
/// hand their outcomes to rank 0; each of them returns only its own.
std::vector<Outcome> runMember(const Job &job, uint32_t rank);

/// Runs this process as one rank of a job whose ranks may be on any hosts: the outcomes are sent over the
/// job's own transport.
std::vector<Outcome> runRemoteMember(const Job &job, uint32_t rank);

/// The outcomes of processes, and which of them were lost.
struct Ended {
  std::vector<Outcome> outcomes;
  std::vector<bool> lost; ///< ranks that sent no outcome: they died, or did not end in time
  std::vector<bool> died; ///< the lost ranks that were not ended here because others had failed
};
/// Runs one forked process per rank, for callers that continue without the ranks that were lost.
Ended watchProcesses(const Job &job);

/// A rank's place in a job that a launcher started, as the environment describes it.
struct LaunchedRank {
  uint32_t rank, ranks;
  std::string launcher;               ///< the variable that gave the rank
  std::string jobName;                ///< empty when the environment gives no name
  std::optional<uint32_t> localRanks; ///< the number of the job's ranks on this host
};
/// Returns this process's place in such a job, or nothing outside of one. Throws Error if the variables
/// contradict each other.
std::optional<LaunchedRank> findMembership();

} // namespace cgx::run

#endif // CGX_RUN_LAUNCH_H
