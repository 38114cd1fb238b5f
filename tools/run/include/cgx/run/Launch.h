//===-- cgx/run/Launch.h - Starting and watching ranks ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three ways to run the ranks of a job. Each returns the outcomes of all ranks,
// or throws one Error that names every rank that failed and why, causes before
// consequences.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LAUNCH_H
#define CGX_RUN_LAUNCH_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// Thrown when a signal ended the run before it could end after a step.
struct Interrupted {
  int signal;
};

/// One thread a rank, in this process.
std::vector<Outcome> runThreads(const Job &job);

/// One forked process a rank. A rank that dies is reported with its signal, the
/// others end within the job's timeout and a few seconds, and none outlives the
/// call or this process.
std::vector<Outcome> runProcesses(const Job &job);

/// This process is one rank of a job that someone else started on this host. The
/// others hand their outcomes to rank 0; on them the result holds their own alone.
std::vector<Outcome> runMember(const Job &job, uint32_t rank);

/// The same for ranks on any hosts: the outcomes travel over the job's own transport.
std::vector<Outcome> runRemoteMember(const Job &job, uint32_t rank);

/// How processes ended.
struct Ended {
  std::vector<Outcome> outcomes;
  std::vector<bool> lost; ///< ranks that brought nothing back: they died, or did not end in time
  std::vector<bool> died; ///< those of them that were not ended here because others had failed
};
/// The same, for callers that go on without ranks that were lost.
Ended watchProcesses(const Job &job);

/// What the environment says of a job started elsewhere.
struct LaunchedRank {
  uint32_t rank, ranks;
  std::string launcher;               ///< the variable that told the rank
  std::string jobName;                ///< empty when the environment names none
  std::optional<uint32_t> localRanks; ///< of the job, on this host
};
/// Nothing outside of such a job. Throws Error on nonsense.
std::optional<LaunchedRank> findMembership();

} // namespace cgx::run

#endif // CGX_RUN_LAUNCH_H
