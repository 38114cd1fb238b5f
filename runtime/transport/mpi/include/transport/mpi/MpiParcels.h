//===-- transport/mpi/MpiParcels.h - Short messages over MPI -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane has slots from which parcels are sent, and for each peer a few receives that are always
// posted. Sends are synchronous: a slot is free again when its parcel has met a receive, so that
// what a rank does not take stays with its senders instead of filling its memory.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MPI_MPIPARCELS_H
#define CGX_RUNTIME_TRANSPORT_MPI_MPIPARCELS_H

#include "transport/Parcels.h"
#include "transport/Transport.h"

#include <array>
#include <memory>
#include <mpi.h>
#include <optional>

namespace cgx {

class MpiParcels final : public Parcels {
public:
  /// More ranks would need too much memory for parcels that are on their way.
  static constexpr uint32_t kMostRanks = 32;

  /// Uses the tags from `firstTag` on, one for each lane, of the communicator.
  MpiParcels(MPI_Comm communicator, int firstTag, uint32_t rank, uint32_t ranks);
  /// Takes the receives back, unless MPI is abandoned.
  ~MpiParcels() override;
  MpiParcels(const MpiParcels &) = delete;
  MpiParcels &operator=(const MpiParcels &) = delete;

  uint64_t capacity() const override { return kCapacity; }
  /// Messages cost processor time, which fast links do not leave.
  uint64_t tensorBytes() const override { return 256 * 1024; }
  std::byte *reserve(uint32_t lane) override;
  void send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) override;
  const Parcel *front(uint32_t peer, uint32_t lane) override;
  void release(uint32_t peer, uint32_t lane) override;
  bool hasLeft(uint32_t peer) const override;
  bool isAllTaken() const override { return unsent == 0; }

  /// Looks which parcels have come and which have been taken.
  Status progress(bool &moved);
  /// When a parcel came from the peer, or one to it was taken.
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
  /// A parcel as it travels.
  struct alignas(64) Buffer {
    Header header;
    alignas(64) std::array<std::byte, kCapacity> bytes;
  };

  struct Outbox {
    std::array<uint32_t, kSlots> receivers{}; ///< who have not taken a slot's parcel yet
    std::optional<uint32_t> reserved;
  };
  /// One lane from a peer. Receives are met in the order in which they were posted.
  struct Inbox {
    uint32_t head = 0;      ///< the oldest receive
    std::vector<bool> came; ///< by receive
    std::optional<Parcel> parcel;
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
  uint64_t sent = 0, unsent = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_MPIPARCELS_H
