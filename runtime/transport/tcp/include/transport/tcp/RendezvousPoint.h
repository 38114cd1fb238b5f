//===-- transport/tcp/RendezvousPoint.h - Where rank 0 can be found -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUSPOINT_H
#define CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUSPOINT_H

#include "transport/tcp/TcpOptions.h"

#include <chrono>

namespace cgx::tcp {

/// What rank 0 lets the others know, and they find.
struct Announcement {
  std::string host, port;
  std::string secret; ///< empty: all have been given one
};

/// The text of an announcement, as a file or a store has it, and back. Anybody may have written there.
std::string encode(const Announcement &announcement);
Result<Announcement> decodeAnnouncement(const std::string &text);

class RendezvousPoint {
public:
  RendezvousPoint(const TcpOptions &options, std::string job) : options(options), job(std::move(job)) {}
  ~RendezvousPoint();
  RendezvousPoint(const RendezvousPoint &) = delete;
  RendezvousPoint &operator=(const RendezvousPoint &) = delete;

  /// Rank 0 puts up where it listens, and takes that down again when all have come, or it gives up: its own
  /// file, and not that of a later start.
  Status announce(const Announcement &announcement);
  void takeDown();

  /// What rank 0 has put up; nothing if there is nothing yet. Waits at most until the deadline.
  Result<std::optional<Announcement>> find(std::chrono::steady_clock::time_point deadline) const;

  /// In words, for messages.
  std::string describe() const;

private:
  std::string storeKey() const { return "cgx/" + job + "/rendezvous"; }
  Status writeFile(const std::string &text);
  Result<std::optional<Announcement>> readFile() const;
  Result<std::optional<Announcement>> askStore(std::chrono::steady_clock::time_point deadline) const;

  const TcpOptions &options;
  std::string job;
  int own = -1; ///< the file that this rank has put up
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUSPOINT_H
