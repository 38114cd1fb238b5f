//===-- transport/Waiting.cpp - Deaths and silences -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/Waiting.h"

#include <algorithm>

namespace cgx {

/// Those of `ranks` that have been silent for the longest time, if it is long at all. A
/// busy machine may keep any rank silent for a while: hence the margins.
static std::set<uint32_t> mostSilent(const std::set<uint32_t> &ranks,
                                     const std::vector<Clock::duration> &silence, Clock::duration timeout) {
  Clock::duration longest{};
  for (uint32_t rank : ranks)
    longest = std::max(longest, silence[rank]);
  std::set<uint32_t> silent;
  for (uint32_t rank : ranks)
    if (silence[rank] >= timeout / 4 && silence[rank] >= longest * 3 / 4)
      silent.insert(rank);
  return silent;
}

/// Those who, as far as anyone can tell, keep this rank waiting: silent peers, or else silent ranks that they
/// may wait for.
static std::set<uint32_t> whoIsSilent(const std::set<uint32_t> &pending,
                                      const std::vector<Clock::duration> &silence, Clock::duration timeout) {
  std::set<uint32_t> blamed = mostSilent(pending, silence, timeout), all;
  for (uint32_t rank = 0; rank < silence.size(); ++rank)
    all.insert(rank);
  return blamed.empty() ? mostSilent(all, silence, timeout) : blamed;
}

/// OK, or why the job is over.
Status Waiting::checkPeers(const std::set<uint32_t> &pending) {
  Status status = transport.checkPeers();
  const std::vector<Clock::duration> absence = transport.absence(); // looks at the signs of life
  const Clock::duration waited = backoff.elapsed();
  if (status.ok() && (waited - excused >= timeout || waited >= timeout * kSlowness)) {
    if (waitsForTheSlow(pending, absence))
      excused = waited;
    else
      status = timedOut(pending);
  }
  if (status.ok())
    return status;
  // What a rank said before it left explains more than that it left.
  bool moved = false;
  if (Status told = transport.progress(moved); !told.ok())
    return told;
  transport.fail(status);
  return status;
}

/// Whether all that this rank waits for is that others end what they do, which their processes show. But not
/// for ever: a process whose rank is stuck runs as well.
bool Waiting::waitsForTheSlow(const std::set<uint32_t> &pending,
                              const std::vector<Clock::duration> &absence) {
  return backoff.elapsed() < timeout * kSlowness && whoIsSilent(pending, absence, timeout).empty() &&
         !whoIsSilent(pending, transport.silence(), timeout).empty();
}

/// Blames a silent peer; or, if all peers wait as well, a silent rank that they may
/// wait for; or, if there is none, says that ranks wait for each other.
Status Waiting::timedOut(const std::set<uint32_t> &pending) {
  std::vector<Clock::duration> silence = transport.silence();
  std::set<uint32_t> blamed = whoIsSilent(pending, transport.absence(), timeout);
  if (blamed.empty())
    blamed = whoIsSilent(pending, silence, timeout);
  bool deadlock = blamed.empty();
  // Of the slow, all of the longer wait.
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
