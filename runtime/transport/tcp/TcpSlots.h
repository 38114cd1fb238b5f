//===-- transport/tcp/TcpSlots.h - Eager messages over TCP ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_TCPSLOTS_H
#define CGX_RUNTIME_TRANSPORT_TCP_TCPSLOTS_H

#include "Frame.h"
#include "transport/EagerSlots.h"

#include <memory>

namespace cgx::tcp {

/// Slots for messages that are sent, and a few buffers for each lane of each peer. Each lane has a
/// connection: messages that a rank does not take stay with the system, and hold their sender back, on this
/// lane alone.
class TcpSlots final : public EagerSlots {
public:
  /// The most ranks that have slots: more would need too much memory.
  static constexpr uint32_t kMostRanks = 32;

  /// `writers` holds the writer of each lane to each peer, at peer * kLanes + lane.
  TcpSlots(uint32_t ranks, std::vector<FrameWriter *> writers);

  uint64_t capacity() const override { return kCapacity; }
  uint64_t tensorBytes() const override { return 256 * 1024; }
  uint64_t uncompressedBytes() const override { return kUncompressedNetworkBytes; }
  std::byte *reserve(uint32_t lane) override;
  void send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) override;
  const EagerMessage *front(uint32_t peer, uint32_t lane) override;
  void release(uint32_t peer, uint32_t lane) override;
  bool isAllTaken() const override;
  GroupTraffic *trafficOf(std::span<const uint32_t> group) override { return &traffics.of(group); }
  bool hasLeft(uint32_t peer) const override { return gone[peer]; }

  /// Returns buffer space for an eager message that is arriving; empty while all buffers are full.
  std::span<std::byte> space(uint32_t peer, uint32_t lane, uint64_t bytes);
  /// Records that the message has arrived.
  void arrived(uint32_t peer, uint32_t lane, const Tag &tag, uint64_t bytes);
  /// Records that nothing will arrive from the peer any more.
  void noteEnd(uint32_t peer) { gone[peer] = true; }
  uint64_t bytesSent() const { return sent; }

private:
  static constexpr uint64_t kCapacity = 132 * 1024; ///< the longest uncompressed piece, and a little more
  static constexpr uint32_t kSlots = 32;            ///< slots of a lane
  static constexpr uint32_t kBuffers = 8;           ///< buffers of a lane from a peer

  struct alignas(64) Buffer {
    std::byte bytes[kCapacity];
  };
  struct Slot {
    std::unique_ptr<Buffer> buffer;
    uint32_t left = 0; ///< receivers to which it has not been sent yet
  };
  struct Outbox {
    std::vector<Slot> slots = std::vector<Slot>(kSlots);
    uint32_t reserved = kSlots;
  };
  struct Inbox {
    std::vector<std::unique_ptr<Buffer>> buffers = std::vector<std::unique_ptr<Buffer>>(kBuffers);
    std::vector<EagerMessage> eagerSlots = std::vector<EagerMessage>(kBuffers);
    uint32_t head = 0, count = 0;
  };
  Inbox &inbox(uint32_t peer, uint32_t lane) { return inboxes[peer * kLanes + lane]; }

  std::vector<FrameWriter *> writers;
  std::vector<Outbox> outboxes;
  std::vector<Inbox> inboxes;
  std::vector<bool> gone;
  GroupTraffics traffics;
  uint64_t sent = 0;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_TCPSLOTS_H
