//===-- transport/tcp/ControlChannel.h - The connection for control messages -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_CONTROLCHANNEL_H
#define CGX_RUNTIME_TRANSPORT_TCP_CONTROLCHANNEL_H

#include "Channel.h"

#include <deque>
#include <mutex>
#include <optional>

namespace cgx::tcp {

/// The connection for control messages between two ranks. Two threads use it: the one that calls the
/// transport, and the process's heartbeat thread. No call waits.
class ControlChannel {
public:
  explicit ControlChannel(std::unique_ptr<Channel> channel) : channel(std::move(channel)) {}

  /// Sends a message as soon as the connection takes it.
  void tell(const ControlMessage &message);
  /// Sends a liveness message, unless others are queued, after which it would come late.
  void sendLiveness(ControlKind kind);
  /// Sends what is queued, and reads what has arrived.
  void advance();

  /// Returns the next message that is more than a liveness message.
  std::optional<ControlMessage> take();
  /// Returns an error if the bytes received are no control message.
  Status damage() const;
  bool isToldAll() const;
  bool isClosed() const;
  int descriptor() const { return channel->descriptor(); }

  /// Return when the last message other than a heartbeat arrived, and when the last message of any kind did.
  Clock::time_point lastProgress() const;
  Clock::time_point lastHeartbeat() const;

private:
  void put(const ControlMessage &message);
  void say();
  void hear();

  mutable std::mutex mutex; ///< guards all members below
  std::unique_ptr<Channel> channel;
  ControlReader reader;
  std::deque<ControlMessage> heard;
  std::vector<std::byte> toTell; ///< queued bytes, from `told` on
  size_t told = 0;
  Status damaged;
  Clock::time_point progressAt = Clock::now(), heartbeatAt = progressAt;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_CONTROLCHANNEL_H
