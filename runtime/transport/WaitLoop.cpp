//===-- transport/WaitLoop.cpp - The loop that waits for ranks --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/WaitLoop.h"

#include <algorithm>

namespace cgx {

/// Returns the ranks among `ranks` whose time is the longest, if that is long at all. A busy machine may hold
/// up any rank for a while, hence the margins.
static std::set<uint32_t> mostSilent(const std::set<uint32_t> &ranks,
                                     const std::vector<Clock::duration> &times, Clock::duration timeout) {
  Clock::duration longest{};
  for (uint32_t rank : ranks)
    longest = std::max(longest, times[rank]);
  std::set<uint32_t> silent;
  for (uint32_t rank : ranks)
    if (times[rank] >= timeout / 4 && times[rank] >= longest * 3 / 4)
      silent.insert(rank);
  return silent;
}

/// Returns the ranks that, as far as anyone can tell, hold this rank up: awaited peers that are silent, or
/// else silent ranks that those peers may wait for.
static std::set<uint32_t> whoIsSilent(const std::set<uint32_t> &pending,
                                      const std::vector<Clock::duration> &times, Clock::duration timeout) {
  std::set<uint32_t> blamed = mostSilent(pending, times, timeout), all;
  for (uint32_t rank = 0; rank < times.size(); ++rank)
    all.insert(rank);
  return blamed.empty() ? mostSilent(all, times, timeout) : blamed;
}

/// Returns OK, or the reason for which the job is over.
Status WaitLoop::checkPeers(const std::set<uint32_t> &pending) {
  Status status = transport.checkPeers();
  const std::vector<Clock::duration> sinceHeartbeat = transport.sinceHeartbeat(); // also reads new heartbeats
  const Clock::duration waited = backoff.elapsed();
  if (status.ok() && (waited - excused >= timeout || waited >= timeout * kSlowness)) {
    if (waitsForTheSlow(pending, sinceHeartbeat))
      excused = waited;
    else
      status = timedOut(pending);
  }
  if (status.ok())
    return status;
  // A message that a rank sent before it left explains more than its absence does.
  bool moved = false;
  if (Status told = transport.progress(moved); !told.ok())
    return told;
  transport.fail(status);
  return status;
}

/// Returns true if this rank waits only for ranks that are busy but whose processes send heartbeats. The time
/// is bounded, because the process of a stuck rank sends them as well.
bool WaitLoop::waitsForTheSlow(const std::set<uint32_t> &pending,
                               const std::vector<Clock::duration> &sinceHeartbeat) {
  return backoff.elapsed() < timeout * kSlowness && whoIsSilent(pending, sinceHeartbeat, timeout).empty() &&
         !whoIsSilent(pending, transport.sinceProgress(), timeout).empty();
}

/// Blames a silent peer; if all peers wait as well, a silent rank that they may wait for; if there is none,
/// reports that ranks wait for each other.
Status WaitLoop::timedOut(const std::set<uint32_t> &pending) {
  std::vector<Clock::duration> times = transport.sinceProgress();
  std::set<uint32_t> blamed = whoIsSilent(pending, transport.sinceHeartbeat(), timeout);
  if (blamed.empty())
    blamed = whoIsSilent(pending, times, timeout);
  bool deadlock = blamed.empty();
  // For slow ranks the whole longer wait is reported.
  const Clock::duration waited =
      backoff.elapsed() >= timeout * kSlowness ? timeout * kSlowness : Clock::duration(timeout);
  std::string names;
  for (uint32_t rank : deadlock ? pending : blamed)
    names += concat(names.empty() ? "" : ", ", rank);
  return Status::error(CGX_TIMEOUT, "rank ", names,
                       deadlock ? " waits as well, for " : " did not answer for ",
                       std::chrono::duration_cast<std::chrono::milliseconds>(waited).count(), " ms");
}

} // namespace cgx
