//===-- transport/ring/RingTransport.h - Messages over rings -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transport over a segment of rings. A message is a MessageHeader and its bytes, streamed through the
// pair's ring, one message at a time, however large it is. A message that nobody has asked for yet waits in
// its ring; it is set aside in heap memory only when another message of the same sender is wanted.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_RINGTRANSPORT_H
#define CGX_RUNTIME_TRANSPORT_RING_RINGTRANSPORT_H

#include "transport/Heartbeat.h"
#include "transport/Transport.h"
#include "transport/ring/ByteRing.h"
#include "transport/ring/Rendezvous.h"
#include "transport/ring/RingSlots.h"

#include <deque>

namespace cgx {

class RingTransport final : public Transport {
public:
  /// Error messages call the ranks by the names of `config`; by their numbers if there are none.
  RingTransport(std::unique_ptr<Membership> membership, const TransportConfig &config);

  uint32_t rank() const override { return self; }
  uint32_t ranks() const override { return uint32_t(peers.size()); }
  void post(Outgoing &message) override;
  void post(Incoming &message) override;
  EagerSlots *eagerSlots() override { return eager ? &*eager : nullptr; }
  Status progress(bool &moved) override;
  void idle(std::chrono::microseconds limit) override;
  Status checkPeers() override;
  std::vector<Clock::duration> sinceProgress() override;
  std::vector<Clock::duration> sinceHeartbeat() override;
  void fail(const Status &reason) override;
  const Status &failure() const override { return failed; }
  uint64_t bytesSent() const override { return sent + (eager ? eager->bytesSent() : 0); }

private:
  /// The header that precedes each message in a ring.
  struct MessageHeader {
    uint32_t magic;
    uint32_t reserved;
    Tag tag;
    uint64_t bytes;
  };
  static_assert(sizeof(MessageHeader) == 32 && sizeof(MessageHeader) <= kMinRingBytes);

  /// A message that arrived before its receive was posted.
  struct Unexpected {
    Tag tag;
    std::vector<std::byte> bytes;
  };

  /// The progress of the message in the middle of a ring: the piece, and the offset in it.
  struct Cursor {
    bool inMessage = false;
    size_t piece = 0;
    size_t offset = 0;
    uint64_t left = 0; ///< bytes of the message that remain
  };

  struct Peer {
    RingWriter writer;
    std::deque<Outgoing *> sends;
    Cursor sending;

    RingReader reader;
    std::deque<Incoming *> receives;
    Cursor receiving;
    MessageHeader header{};
    Incoming *target = nullptr; ///< of the message in the ring; null if it is unexpected
    std::deque<Unexpected> unexpected;

    uint32_t progressCount = 0; ///< the progress counter when last read
    Clock::time_point seen;     ///< when it changed
    uint32_t heartbeat = 0;
    Clock::time_point heartbeatAt;
  };

  bool push(Peer &peer);
  Status pull(Peer &peer, uint32_t rank, bool &moved);
  Status beginReceive(Peer &peer, uint32_t rank);
  Status endReceive(Peer &peer);
  Status deliver(const Unexpected &early, Incoming &message) const;
  Status matchesLength(const Incoming &message, uint64_t bytes) const;

  uint32_t nameOf(uint32_t rank) const { return names.empty() ? rank : names[rank]; }

  std::unique_ptr<Membership> membership;
  std::vector<uint32_t> names;
  Segment segment;
  uint32_t self;
  std::vector<Peer> peers;
  std::optional<RingSlots> eager; ///< empty if there are no slots for that many ranks
  uint64_t eagerActivity = 0;     ///< the slots' activity() when last read
  Status failed;
  uint64_t sent = 0;
  std::optional<Heartbeat> heartbeat; ///< last member: it must end before the segment
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_RINGTRANSPORT_H
