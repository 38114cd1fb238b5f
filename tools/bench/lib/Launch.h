//===-- Launch.h - Starting the ranks of a benchmark ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_BENCH_LAUNCH_H
#define CGX_BENCH_LAUNCH_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace cgx::bench {

/// The function that one rank runs. The results of rank 0 stay in this process.
using RankBody = std::function<void(uint32_t rank)>;

/// The place of this process in a job that mpirun started.
struct Membership {
  uint32_t rank = 0, ranks = 1;
  uint32_t localRanks = 1; ///< the number of the job's ranks on this host
  std::string job;
};
std::optional<Membership> findMembership();

/// Returns a rank's number among the ranks of this host, as mpirun gives it; without mpirun all ranks are on
/// this host.
uint32_t rankOnHost(uint32_t rank);

/// The ranks to run, and the transport between them.
struct Launch {
  std::string transport = "shm";
  uint32_t ranks = 2;
  std::string job;
  std::optional<Membership> member;

  /// Returns true if this process prints the results.
  bool reports() const { return !member || member->rank == 0; }
};

/// Makes the launch from the options. Values that they lack come from mpirun; without it, there are two
/// processes. Throws Error.
Launch makeLaunch(std::optional<uint32_t> ranks, const std::optional<std::string> &transport);

/// Runs the ranks that belong to this process: the one of mpirun, or all of them as threads or forked
/// processes, with rank 0 here. Throws Error.
void runRanks(const Launch &launch, const RankBody &body);

} // namespace cgx::bench

#endif // CGX_BENCH_LAUNCH_H
