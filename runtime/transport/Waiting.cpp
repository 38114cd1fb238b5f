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

/// OK, or why the job is over.
Status Waiting::checkPeers(const std::set<uint32_t> &pending) {
  Status status = transport.checkPeers();
  (void)transport.silence(); // looks at the signs of life
  if (status.ok() && patience.elapsed() >= timeout)
    status = timedOut(pending);
  if (status.ok())
    return status;
  // What a rank said before it left explains more than that it left.
  bool moved = false;
  if (Status told = transport.progress(moved); !told.ok())
    return told;
  transport.fail(status);
  return status;
}

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

/// Blames a silent peer; or, if all peers wait as well, a silent rank that they may
/// wait for; or, if there is none, says that ranks wait for each other.
Status Waiting::timedOut(const std::set<uint32_t> &pending) {
  std::vector<Clock::duration> silence = transport.silence();
  std::set<uint32_t> all;
  for (uint32_t rank = 0; rank < transport.ranks(); ++rank)
    all.insert(rank);
  std::set<uint32_t> blamed = mostSilent(pending, silence, timeout);
  if (blamed.empty())
    blamed = mostSilent(all, silence, timeout);
  bool deadlock = blamed.empty();
  std::string names;
  for (uint32_t rank : deadlock ? pending : blamed)
    names += concat(names.empty() ? "" : ", ", rank);
  return Status::error(CGX_TIMEOUT, "rank ", names,
                       deadlock ? " waits as well, for " : " did not answer for ", timeout.count(), " ms");
}

} // namespace cgx
