//===-- transport/MessageBatch.h - Post messages, wait for all --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch of messages that starts as it is filled and is waited for as a whole.
// Waiting.h says how.
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
  /// An exchange that was not finished has failed, and the transport with it:
  /// half of a message cannot be taken back.
  ~MessageBatch();
  MessageBatch(const MessageBatch &) = delete;
  MessageBatch &operator=(const MessageBatch &) = delete;

  /// Messages without bytes are not sent: both sides know that they are empty.
  void send(uint32_t peer, Tag tag, std::vector<std::span<const std::byte>> pieces, bool onDevice = false);
  void receive(uint32_t peer, Tag tag, std::vector<std::span<std::byte>> pieces, bool onDevice = false);

  /// Moves what can be moved without waiting.
  Status poll();
  /// Waits for all messages. `timeout` is the longest time without any progress.
  Status finish();

private:
  bool complete() const;
  /// Ranks whose messages are still on their way.
  std::set<uint32_t> pending() const;

  Transport &transport;
  std::chrono::milliseconds timeout;
  std::deque<Outgoing> outgoing; // deques: posted messages stay where they are
  std::deque<Incoming> incoming;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MESSAGEBATCH_H
