//===-- transport/mpi/linked/MpiTransport.h - Messages over MPI ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message is one MPI message of a header, which names it in full, and its pieces, sent and received in
// place. MPI matches it by a tag of 28 bits derived from the name; the header tells whether it is the right
// one. Pieces in the memory of a GPU follow their header as messages of their own, since MPI detects the kind
// of memory from where a message begins.
//
// Other facts (a rank has failed, leaves, or still waits) travel as control messages, small messages with a
// tag of their own. Heartbeats are empty messages, which a thread of its own sends.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPITRANSPORT_H
#define CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPITRANSPORT_H

#include "transport/Heartbeat.h"
#include "transport/mpi/linked/MpiSlots.h"

#include <array>
#include <list>
#include <memory>
#include <mpi.h>
#include <optional>

namespace cgx {

class MpiTransport final : public Transport {
public:
  /// The communicator must not be used by anybody else.
  MpiTransport(MPI_Comm communicator, uint32_t rank, uint32_t ranks, std::chrono::milliseconds timeout,
               bool takesGpuMemory, bool hasHeartbeat);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport &) = delete;
  MpiTransport &operator=(const MpiTransport &) = delete;

  uint32_t rank() const override { return self; }
  uint32_t ranks() const override { return uint32_t(peers.size()); }
  void post(Outgoing &message) override;
  void post(Incoming &message) override;
  EagerSlots *eagerSlots() override;
  Status progress(bool &moved) override;
  void idle(std::chrono::microseconds limit) override;
  Status checkPeers() override;
  std::vector<Clock::duration> sinceProgress() override;
  std::vector<Clock::duration> sinceHeartbeat() override;
  void fail(const Status &reason) override;
  const Status &failure() const override { return failed; }
  uint64_t bytesSent() const override { return sent + (eager ? eager->bytesSent() : 0); }
  bool servesAnyThread() const override;
  bool takesDeviceMemory(uint32_t) const override { return takesGpuMemory; }

private:
  /// The header that precedes the bytes of a message.
  struct Header {
    uint64_t magic;
    Tag tag;
    uint64_t bytes;
  };

  /// A pending message. MPI knows its address.
  struct Posted {
    std::vector<MPI_Request> requests = {}; ///< the first is, or contains, the header
    size_t arrived = 0;                     ///< how many requests, from the first on, are complete
    Header header{};
    Outgoing *out = nullptr;
    Incoming *in = nullptr;
  };

  enum class ControlKind : uint32_t { Waiting, Leaving, Failed };
  struct ControlMessage {
    ControlKind kind = ControlKind::Waiting;
    uint32_t code = 0; ///< a cgx_status, if the kind is Failed
    std::array<char, 1016> text{};
  };
  /// A control message that is being sent to one peer.
  struct ControlSlot {
    ControlMessage message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  struct Peer {
    /// The last control message about progress that was sent to the peer.
    std::unique_ptr<ControlSlot> alive = std::make_unique<ControlSlot>();
    MPI_Request heartbeat = MPI_REQUEST_NULL; ///< the last heartbeat sent to the peer
    Clock::time_point heard;                  ///< when its last message arrived
    Clock::time_point heartbeatAt;            ///< when its last heartbeat arrived
    bool left = false;
    uint32_t suspicions = 0; ///< checks that found it gone, or ahead, since its last message
    Clock::time_point suspectedAt;
  };

  template <typename Message> Status start(Message &message);
  template <typename Message> Status startWhole(Message &message, Posted &posted);
  template <typename Message> Status startInParts(Message &message, Posted &posted);
  template <typename Message>
  Status startPart(const Message &message, void *memory, int count, MPI_Datatype type, Posted &posted);
  Status advance(Posted &posted, bool &moved);
  Status checkArrived(const Posted &posted, int code) const;
  void complete(Posted &posted);
  Status readControlMessages(bool &moved);
  void tell(uint32_t rank, ControlSlot &slot);
  std::vector<std::unique_ptr<ControlSlot>> tellAll(const ControlMessage &message,
                                                    std::chrono::milliseconds limit);
  std::optional<int> findLostStep(const Incoming &wanted) const;
  Status describeLostStep(const Incoming &wanted, int tag) const;
  void sendHeartbeats();
  void readHeartbeats();
  static Status toldFailure(const ControlMessage &message, int source);
  void cancel();
  void drop();

  MPI_Comm communicator;
  uint32_t self;
  bool takesGpuMemory;
  std::vector<Peer> peers;
  std::list<Posted> messages;
  std::optional<MpiSlots> eager; ///< created on first use
  Clock::time_point lastAlive;
  std::chrono::milliseconds alivePeriod; ///< between two reports of a rank that waits
  Clock::time_point lastLook;            ///< the last check for control messages
  Status failed;
  uint64_t sent = 0;
  std::optional<Heartbeat> heartbeat; ///< last member, because it uses the peers
};

/// Connects as `connectMpi` does, with the MPI that this code was linked with.
Result<std::unique_ptr<Transport>> joinMpiWorld(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPITRANSPORT_H
