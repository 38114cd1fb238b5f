//===-- transport/tcp/RendezvousAddress.h - Where rank 0 can be found -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUSADDRESS_H
#define CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUSADDRESS_H

#include "transport/tcp/TcpOptions.h"

#include <chrono>

namespace cgx::tcp {

/// The data with which the other ranks find rank 0.
struct Announcement {
  std::string host, port;
  std::string secret; ///< empty: each rank has been given the secret
};

/// Convert an announcement to the text of a file or store, and back. Anybody may have written the text.
std::string encode(const Announcement &announcement);
Result<Announcement> decodeAnnouncement(const std::string &text);

class RendezvousAddress {
public:
  RendezvousAddress(const TcpOptions &options, std::string job) : options(options), job(std::move(job)) {}
  ~RendezvousAddress();
  RendezvousAddress(const RendezvousAddress &) = delete;
  RendezvousAddress &operator=(const RendezvousAddress &) = delete;

  /// Publishes the address of rank 0. takeDown() removes it when all have come, or rank 0 gives up: only its
  /// own file, not that of a later start.
  Status announce(const Announcement &announcement);
  void takeDown();

  /// Returns what rank 0 has published; nothing if there is nothing yet. Waits at most until the deadline.
  Result<std::optional<Announcement>> find(std::chrono::steady_clock::time_point deadline) const;

  /// Returns a description for messages.
  std::string describe() const;

private:
  std::string storeKey() const { return "cgx/" + job + "/rendezvous"; }
  Status writeFile(const std::string &text);
  Result<std::optional<Announcement>> readFile() const;
  Result<std::optional<Announcement>> askStore(std::chrono::steady_clock::time_point deadline) const;

  const TcpOptions &options;
  std::string job;
  int own = -1; ///< the file that this rank has published
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUSADDRESS_H
