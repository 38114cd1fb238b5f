//===-- transport/MessageBatch.h - Messages that are waited for together -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch of messages that are posted as it is filled and waited for together. WaitLoop.h implements the
// wait.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MESSAGEBATCH_H
#define CGX_RUNTIME_TRANSPORT_MESSAGEBATCH_H

#include "transport/Transport.h"

#include <deque>
#include <set>

namespace cgx {

class MessageBatch {
public:
  MessageBatch(Transport &transport, std::chrono::milliseconds timeout)
      : transport(transport), timeout(timeout) {}
  /// Fails the transport if the exchange was not finished: half of a message cannot be taken back.
  ~MessageBatch();
  MessageBatch(const MessageBatch &) = delete;
  MessageBatch &operator=(const MessageBatch &) = delete;

  /// Messages without bytes are not sent: both sides know that they are empty.
  void send(uint32_t peer, Tag tag, std::vector<std::span<const std::byte>> pieces, bool onDevice = false);
  void receive(uint32_t peer, Tag tag, std::vector<std::span<std::byte>> pieces, bool onDevice = false);

  /// Moves what can be moved without waiting.
  Status poll();
  /// Waits for all messages. `timeout` is the longest time without progress.
  Status finish();

private:
  bool complete() const;
  /// Returns the ranks whose messages are still pending.
  std::set<uint32_t> pending() const;

  Transport &transport;
  std::chrono::milliseconds timeout;
  std::deque<Outgoing> outgoing; // deques, so that posted messages do not move
  std::deque<Incoming> incoming;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MESSAGEBATCH_H
