//===-- transport/tcp/Joining.h - How ranks come together -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ranks come to rank 0, which tells them where the others listen; then each connects to all that have a
// lower number. All succeed, or all hear why not.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_JOINING_H
#define CGX_RUNTIME_TRANSPORT_TCP_JOINING_H

#include "AwaitedNote.h"
#include "Conversation.h"

namespace cgx::tcp {

/// The connections of one rank to another: the first is for notes, the others for data.
using Connections = std::vector<std::unique_ptr<Channel>>;

struct Joined {
  std::shared_ptr<Network> network;
  std::vector<Connections> peers; ///< by rank; none to itself
};

/// Waits until all ranks have come, at most as long as the configuration says.
Result<Joined> joinJob(const TransportConfig &config, const TcpOptions &options);

/// Connections between two ranks: one for notes, and one for each lane of eager messages and each stream.
uint32_t connectionsOf(const TcpOptions &options);

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_JOINING_H
