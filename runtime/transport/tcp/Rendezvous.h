//===-- transport/tcp/Rendezvous.h - How ranks find and connect to each other -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ranks connect to rank 0, which tells them the addresses of the others; then each connects to all ranks
// with a lower number. Either all succeed, or all learn why not.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUS_H
#define CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUS_H

#include "ControlReply.h"
#include "PendingConnection.h"

namespace cgx::tcp {

/// The connections of one rank to another: the first carries control messages, the others carry data.
using Connections = std::vector<std::unique_ptr<Channel>>;

struct Joined {
  std::shared_ptr<Network> network;
  std::vector<Connections> peers; ///< indexed by rank; none to itself
};

/// Waits until all ranks have come, but no longer than the configuration says.
Result<Joined> joinJob(const TransportConfig &config, const TcpOptions &options);

/// Returns the number of connections between two ranks: one for control messages, and one for each lane of
/// eager messages and each stream.
uint32_t connectionsOf(const TcpOptions &options);

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_RENDEZVOUS_H
