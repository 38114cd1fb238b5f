//===-- transport/ring/RingSlots.h - Eager messages in shared slots -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_RINGSLOTS_H
#define CGX_RUNTIME_TRANSPORT_RING_RINGSLOTS_H

#include "transport/ring/Segment.h"

#include <optional>
#include <vector>

namespace cgx {

class RingSlots final : public EagerSlots {
public:
  RingSlots(Segment segment, uint32_t rank);

  uint64_t capacity() const override { return kSlotBytes; }
  std::byte *reserve(uint32_t lane) override;
  void send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) override;
  const EagerMessage *front(uint32_t peer, uint32_t lane) override;
  void release(uint32_t peer, uint32_t lane) override;
  bool hasLeft(uint32_t peer) const override;

  /// Returns a number that changes whenever a peer has sent or released an eager message.
  uint64_t activity() const;
  /// Returns OK, or the damage found in the segment.
  const Status &damage() const { return damaged; }
  uint64_t bytesSent() const { return sent; }

private:
  /// A receiver that has not yet released the message in a slot.
  struct Reader {
    uint32_t peer;
    uint64_t eager; ///< the slot is free when so many were released
  };

  struct Outbox {
    std::vector<std::vector<Reader>> readers; ///< indexed by slot
    std::optional<uint32_t> reserved;
  };

  /// One lane to and from a peer.
  struct Route {
    Lane *out = nullptr;
    Lane *in = nullptr;
    uint64_t sent = 0;
    uint64_t taken = 0;
    bool inFront = false;
    EagerMessage eager;
  };

  Route &route(uint32_t peer, uint32_t lane) { return routes[peer * kLanes + lane]; }
  bool isFree(uint32_t lane, std::vector<Reader> &readers);

  Segment segment;
  uint32_t self;
  uint32_t ranks;
  std::vector<Outbox> outboxes; ///< indexed by lane
  std::vector<Route> routes;    ///< indexed by peer and lane
  Status damaged;
  uint64_t sent = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_RINGSLOTS_H
