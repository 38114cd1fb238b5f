//===-- transport/ring/RingTransport.h - Messages over rings -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transport over a segment of rings. A message is a MessageHeader and its bytes,
// streamed through the pair's ring, one message at a time, however large it is.
// A message that nobody has asked for yet waits in its ring; only when another
// message of the same sender is wanted is it set aside in heap memory.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_RINGTRANSPORT_H
#define CGX_RUNTIME_TRANSPORT_RING_RINGTRANSPORT_H

#include "transport/Pulse.h"
#include "transport/Transport.h"
#include "transport/ring/ByteRing.h"
#include "transport/ring/Rendezvous.h"
#include "transport/ring/RingSlots.h"

#include <deque>

namespace cgx {

class RingTransport final : public Transport {
public:
  /// Messages call the ranks by `names`; by their numbers if there are none.
  RingTransport(std::unique_ptr<Membership> membership, const TransportConfig &config);

  uint32_t rank() const override { return self; }
  uint32_t ranks() const override { return uint32_t(peers.size()); }
  void post(Outgoing &message) override;
  void post(Incoming &message) override;
  EagerSlots *eagerSlots() override { return lent ? &*lent : nullptr; }
  Status progress(bool &moved) override;
  void idle(std::chrono::microseconds limit) override;
  Status checkPeers() override;
  std::vector<Clock::duration> silence() override;
  std::vector<Clock::duration> absence() override;
  void fail(const Status &reason) override;
  const Status &failure() const override { return failed; }
  uint64_t bytesSent() const override { return sent + (lent ? lent->bytesSent() : 0); }

private:
  /// What precedes each message in a ring.
  struct MessageHeader {
    uint32_t magic;
    uint32_t reserved;
    Tag tag;
    uint64_t bytes;
  };
  static_assert(sizeof(MessageHeader) == 32 && sizeof(MessageHeader) <= kMinRingBytes);

  /// A message that came before it was asked for.
  struct Unexpected {
    Tag tag;
    std::vector<std::byte> bytes;
  };

  /// How far the message in the middle of a ring has got: the piece, and the
  /// offset in it.
  struct Cursor {
    bool inMessage = false;
    size_t piece = 0;
    size_t offset = 0;
    uint64_t left = 0; ///< bytes of the message still to come or go
  };

  struct Peer {
    RingWriter writer;
    std::deque<Outgoing *> sends;
    Cursor sending;

    RingReader reader;
    std::deque<Incoming *> receives;
    Cursor receiving;
    MessageHeader header{};
    Incoming *target = nullptr; ///< of the message in the ring; null: it is unexpected
    std::deque<Unexpected> unexpected;

    uint32_t heartbeat = 0; ///< last seen
    Clock::time_point seen; ///< when it changed
    uint32_t pulse = 0;
    Clock::time_point felt;
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
  std::optional<RingSlots> lent; ///< where there are slots for that many ranks
  uint64_t lentActivity = 0;     ///< last seen
  Status failed;
  uint64_t sent = 0;
  std::optional<Pulse> pulse; ///< last: it ends before the segment
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_RINGTRANSPORT_H
