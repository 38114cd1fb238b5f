//===-- transport/mpi/linked/MpiSlots.h - Short messages over MPI -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane has slots from which eager messages are sent, and for each peer a few receives that are always
// posted. Sends of more than a few KiB are synchronous: a slot is free again when its message has met a
// receive, so that messages that a rank does not take stay with their senders instead of filling its memory.
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
  /// The most ranks that have slots: more would need too much memory.
  static constexpr uint32_t kMostRanks = 32;

  /// Uses the tags from `firstTag` on, one for each lane, of the communicator.
  MpiSlots(MPI_Comm communicator, int firstTag, uint32_t rank, uint32_t ranks);
  /// Cancels the receives, unless MPI is abandoned.
  ~MpiSlots() override;
  MpiSlots(const MpiSlots &) = delete;
  MpiSlots &operator=(const MpiSlots &) = delete;

  uint64_t capacity() const override { return kCapacity; }
  /// Messages cost processor time, of which fast links leave none.
  uint64_t tensorBytes() const override { return 256 * 1024; }
  uint64_t uncompressedBytes() const override { return kUncompressedNetworkBytes; }
  std::byte *reserve(uint32_t lane) override;
  void send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) override;
  const EagerMessage *front(uint32_t peer, uint32_t lane) override;
  void release(uint32_t peer, uint32_t lane) override;
  GroupTraffic *trafficOf(std::span<const uint32_t> group) override { return &traffics.of(group); }
  bool hasLeft(uint32_t peer) const override;
  bool isAllTaken() const override { return unsent == 0; }

  /// Checks which eager messages have arrived and which have been taken.
  Status progress(bool &moved);
  /// Returns when the last eager message came from the peer, or was taken by it.
  Clock::time_point heard(uint32_t peer) const { return lastHeard[peer]; }
  /// Records that the peer leaves: its earlier messages are in flight.
  void noteLeaving(uint32_t peer) { leftAt[peer] = Clock::now(); }
  uint64_t bytesSent() const { return sent; }

private:
  static constexpr uint64_t kCapacity = 132 * 1024; ///< the longest uncompressed piece, and a little more
  static constexpr uint32_t kSlots = 32;            ///< slots of a lane

  struct Header {
    Tag tag;
    uint64_t bytes;
  };
  /// An eager message with its header, as it is sent.
  struct alignas(64) Buffer {
    Header header;
    alignas(64) std::array<std::byte, kCapacity> bytes;
  };

  struct Outbox {
    std::array<uint32_t, kSlots> receivers{}; ///< how many have not taken a slot's eager message yet
    std::optional<uint32_t> reserved;
  };
  /// The receives of one lane from a peer. MPI matches them in the order in which they were posted.
  struct Inbox {
    uint32_t head = 0;      ///< the oldest receive
    std::vector<bool> came; ///< by receive: its message has arrived
    std::optional<EagerMessage> eager;
  };

  uint32_t routeOf(uint32_t peer, uint32_t lane) const { return peer * kLanes + lane; }
  uint32_t receiveOf(uint32_t route, uint32_t slot) const { return route * receives + slot; }
  /// Returns the index of a send request. These follow the requests of all receives, one for each slot and
  /// receiver.
  uint32_t sendOf(uint32_t lane, uint32_t slot, uint32_t peer) const {
    return ranks * kLanes * receives + (lane * kSlots + slot) * ranks + peer;
  }
  void post(uint32_t peer, uint32_t lane, uint32_t slot);
  void complete(uint32_t request);
  void note(int code, const char *call);

  MPI_Comm communicator;
  int firstTag;
  uint32_t self, ranks;
  uint32_t receives;                 ///< posted receives for each lane and peer
  std::unique_ptr<Buffer[]> in, out; ///< indexed by receive; by lane and slot
  std::vector<MPI_Request> requests;
  std::vector<int> completed; ///< workspace of MPI_Testsome
  std::array<Outbox, kLanes> outboxes;
  std::vector<Inbox> inboxes; ///< indexed by route
  std::vector<Clock::time_point> lastHeard;
  std::vector<std::optional<Clock::time_point>> leftAt;
  Status damaged;
  GroupTraffics traffics;
  uint64_t sent = 0, unsent = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPISLOTS_H
