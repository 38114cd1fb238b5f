//===-- transport/mpi/linked/MpiSlots.h - Short messages over MPI -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane has slots from which eager messages are sent, and for each peer a few receives that are always
// posted. Sends of more than a few KiB are synchronous: a slot is free again when its eager message has met a
// receive, so that what a rank does not take stays with its senders instead of filling its memory.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPISLOTS_H
#define CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPISLOTS_H

#include "transport/EagerSlots.h"
#include "transport/Transport.h"

#include <array>
#include <memory>
#include <mpi.h>
#include <optional>

namespace cgx {

class MpiSlots final : public EagerSlots {
public:
  /// More ranks would need too much memory for eager messages that are on their way.
  static constexpr uint32_t kMostRanks = 32;

  /// Uses the tags from `firstTag` on, one for each lane, of the communicator.
  MpiSlots(MPI_Comm communicator, int firstTag, uint32_t rank, uint32_t ranks);
  /// Takes the receives back, unless MPI is abandoned.
  ~MpiSlots() override;
  MpiSlots(const MpiSlots &) = delete;
  MpiSlots &operator=(const MpiSlots &) = delete;

  uint64_t capacity() const override { return kCapacity; }
  /// Messages cost processor time, which fast links do not leave.
  uint64_t tensorBytes() const override { return 256 * 1024; }
  uint64_t exactBytes() const override { return kExactNetworkBytes; }
  std::byte *reserve(uint32_t lane) override;
  void send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) override;
  const EagerMessage *front(uint32_t peer, uint32_t lane) override;
  void release(uint32_t peer, uint32_t lane) override;
  GroupTraffic *trafficOf(std::span<const uint32_t> group) override { return &traffics.of(group); }
  bool hasLeft(uint32_t peer) const override;
  bool isAllTaken() const override { return unsent == 0; }

  /// Looks which eager messages have come and which have been taken.
  Status progress(bool &moved);
  /// When an eager message came from the peer, or one to it was taken.
  Clock::time_point heard(uint32_t peer) const { return lastHeard[peer]; }
  /// The peer said that it leaves: what it has sent before is on its way.
  void noteLeaving(uint32_t peer) { leftAt[peer] = Clock::now(); }
  uint64_t bytesSent() const { return sent; }

private:
  static constexpr uint64_t kCapacity = 132 * 1024; ///< the longest exact piece, and a little more
  static constexpr uint32_t kSlots = 32;            ///< of a lane

  struct Header {
    Tag tag;
    uint64_t bytes;
  };
  /// An eager message as it travels.
  struct alignas(64) Buffer {
    Header header;
    alignas(64) std::array<std::byte, kCapacity> bytes;
  };

  struct Outbox {
    std::array<uint32_t, kSlots> receivers{}; ///< who have not taken a slot's eager message yet
    std::optional<uint32_t> reserved;
  };
  /// One lane from a peer. Receives are met in the order in which they were posted.
  struct Inbox {
    uint32_t head = 0;      ///< the oldest receive
    std::vector<bool> came; ///< by receive
    std::optional<EagerMessage> eager;
  };

  uint32_t routeOf(uint32_t peer, uint32_t lane) const { return peer * kLanes + lane; }
  uint32_t receiveOf(uint32_t route, uint32_t slot) const { return route * receives + slot; }
  /// Behind the requests of all receives: one for each slot and receiver.
  uint32_t sendOf(uint32_t lane, uint32_t slot, uint32_t peer) const {
    return ranks * kLanes * receives + (lane * kSlots + slot) * ranks + peer;
  }
  void post(uint32_t peer, uint32_t lane, uint32_t slot);
  void complete(uint32_t request);
  void note(int code, const char *call);

  MPI_Comm communicator;
  int firstTag;
  uint32_t self, ranks;
  uint32_t receives;                 ///< that are posted for each lane and peer
  std::unique_ptr<Buffer[]> in, out; ///< by receive; by lane and slot
  std::vector<MPI_Request> requests;
  std::vector<int> completed; ///< room for MPI_Testsome
  std::array<Outbox, kLanes> outboxes;
  std::vector<Inbox> inboxes; ///< by route
  std::vector<Clock::time_point> lastHeard;
  std::vector<std::optional<Clock::time_point>> leftAt;
  Status damaged;
  GroupTraffics traffics;
  uint64_t sent = 0, unsent = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPISLOTS_H
