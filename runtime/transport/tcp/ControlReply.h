//===-- transport/tcp/ControlReply.h - A control message that is expected -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_CONTROLREPLY_H
#define CGX_RUNTIME_TRANSPORT_TCP_CONTROLREPLY_H

#include "Channel.h"

namespace cgx::tcp {

/// A control message that a peer is going to send. It is polled, so that one thread can wait for several
/// peers.
class ControlReply {
public:
  /// Reads what has arrived, without waiting. Returns an error if the peer reports a failure, sends anything
  /// else, or is gone, also after the message has arrived.
  Status look(Channel &channel);
  /// Waits for the message.
  Status await(Channel &channel, Clock::time_point deadline);

  bool hasCome() const { return isWhole; }
  /// Returns the message after it has arrived.
  const ControlMessage &message() const { return last; }

private:
  ControlReader reader;
  ControlMessage last;
  bool isWhole = false;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_CONTROLREPLY_H
