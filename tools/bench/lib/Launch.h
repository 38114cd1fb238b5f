//===-- Launch.h - Start the ranks of a benchmark ---------------*- C++ -*-===//
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

/// What one rank does. What rank 0 makes stays in this process.
using RankBody = std::function<void(uint32_t rank)>;

/// The rank of this process in a job that mpirun started.
struct Membership {
  uint32_t rank = 0, ranks = 1;
  uint32_t localRanks = 1; ///< of the job, on this host
  std::string job;
};
std::optional<Membership> findMembership();

/// Which of the ranks on this host a rank is: as mpirun says, or all are.
uint32_t rankOnHost(uint32_t rank);

/// Who runs, and over what.
struct Launch {
  std::string transport = "shm";
  uint32_t ranks = 2;
  std::string job;
  std::optional<Membership> member;

  /// Whether this process is the one that people see.
  bool reports() const { return !member || member->rank == 0; }
};

/// From what was typed; the rest from mpirun, or two processes. Throws Error.
Launch makeLaunch(std::optional<uint32_t> ranks, const std::optional<std::string> &transport);

/// Runs the ranks that this process is to run: one of mpirun's, or all as threads or forked processes, of
/// which this is rank 0. Throws Error.
void runRanks(const Launch &launch, const RankBody &body);

} // namespace cgx::bench

#endif // CGX_BENCH_LAUNCH_H
