//===-- transport/tcp/TcpTransport.h - Messages over TCP --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_TCPTRANSPORT_H
#define CGX_RUNTIME_TRANSPORT_TCP_TCPTRANSPORT_H

#include "ControlChannel.h"
#include "Rendezvous.h"
#include "TcpSlots.h"
#include "transport/Heartbeat.h"

#include <list>

namespace cgx::tcp {

/// A transport that sends from, and receives into, the memory of the messages. Data that no receive wants
/// stays with the system and holds its sender back; it is set aside only when another message of the same
/// sender is wanted.
class TcpTransport final : public Transport {
public:
  TcpTransport(const TransportConfig &config, uint32_t streams, Joined joined);
  ~TcpTransport() override;
  TcpTransport(const TcpTransport &) = delete;
  TcpTransport &operator=(const TcpTransport &) = delete;

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
  struct Stream {
    std::unique_ptr<Channel> channel;
    FrameWriter writer;
    FrameReader reader;
    bool isHeld = false; ///< no receive wants its next frame yet
  };

  /// A message that is being sent.
  struct Departing {
    Outgoing *message;
    uint32_t parts; ///< parts that the system has not taken yet
  };
  /// A message that has begun to arrive.
  struct Arriving {
    uint64_t sequence;
    Tag tag;
    uint64_t total, left;
    Incoming *target;                   ///< null: no receive has been posted
    std::unique_ptr<std::byte[]> aside; ///< its bytes, if there was no receive when it began
  };

  struct Peer {
    std::unique_ptr<ControlChannel> control;
    std::deque<Stream> streams;
    uint64_t nextSequence = 0;
    std::list<Departing> departing;
    std::deque<Incoming *> receives;
    std::list<Arriving> arriving;           ///< in the order in which they were sent
    Clock::time_point heard = Clock::now(); ///< when data of it last arrived
    bool left = false;
    std::optional<Clock::time_point> lostAt; ///< when a stream closed, of a peer that has not left
  };

  void push(Peer &peer, bool &moved);
  Status pull(Peer &peer, uint32_t rank, bool &moved);
  Result<bool> placeFrame(Peer &peer, uint32_t rank, uint32_t stream);
  Result<bool> placePart(Peer &peer, uint32_t rank, uint32_t stream);
  Result<Arriving *> beginMessage(Peer &peer, uint32_t rank, const FrameHeader &header);
  Status endFrame(Peer &peer, uint32_t rank, uint32_t stream);
  Status deliver(Peer &peer, std::list<Arriving>::iterator arrived);
  Status readControlMessages(Peer &peer, uint32_t rank, bool &moved);
  Status matchesLength(const Incoming &message, uint64_t bytes) const;
  bool isEnded(const Peer &peer) const;
  void sendLiveness(Clock::time_point now);
  void drop();

  std::shared_ptr<Network> network; ///< first member, because channels use it
  uint32_t self;
  uint32_t streams; ///< number of streams over which a long message is spread
  std::vector<Peer> peers;
  std::optional<TcpSlots> eager;
  Clock::time_point lastAlive, lastLook;
  std::chrono::milliseconds alivePeriod;
  Status told; ///< the failure that another rank reported
  Status failed;
  uint64_t sent = 0;
  std::optional<Heartbeat> heartbeat; ///< last member, because it uses the peers
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_TCPTRANSPORT_H
