//===-- transport/mpi/linked/MpiTransport.h - Messages over MPI ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message is one MPI message of a header, which names it in full, and its pieces,
// sent and received in place. MPI matches it by a tag of 28 bits that follows from
// the name; the header tells whether it is the right one. Pieces in the memory of a GPU follow their
// header as messages of their own, since MPI tells memory apart by where a message begins.
//
// What else ranks have to tell each other (that one has failed, leaves, or still
// waits) are notes: small messages under a tag of their own. That the process of a
// rank runs is said by empty messages, which a thread of its own sends.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPITRANSPORT_H
#define CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPITRANSPORT_H

#include "transport/Pulse.h"
#include "transport/mpi/linked/MpiSlots.h"

#include <array>
#include <list>
#include <memory>
#include <mpi.h>
#include <optional>

namespace cgx {

class MpiTransport final : public Transport {
public:
  /// Nobody else uses the communicator.
  MpiTransport(MPI_Comm communicator, uint32_t rank, uint32_t ranks, std::chrono::milliseconds timeout,
               bool takesGpuMemory, bool hasPulse);
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
  std::vector<Clock::duration> silence() override;
  std::vector<Clock::duration> absence() override;
  void fail(const Status &reason) override;
  const Status &failure() const override { return failed; }
  uint64_t bytesSent() const override { return sent + (lent ? lent->bytesSent() : 0); }
  bool servesAnyThread() const override;
  bool takesDeviceMemory(uint32_t) const override { return takesGpuMemory; }

private:
  /// What precedes the bytes of a message.
  struct Header {
    uint64_t magic;
    Tag tag;
    uint64_t bytes;
  };

  /// A message on its way. Its place in memory is known to MPI.
  struct Posted {
    std::vector<MPI_Request> requests = {}; ///< the header is, or is a part of, the first
    size_t arrived = 0;                     ///< of these, from the first on
    Header header{};
    Outgoing *out = nullptr;
    Incoming *in = nullptr;
  };

  enum class NoteKind : uint32_t { Alive, Leaving, Failed };
  struct Note {
    NoteKind kind = NoteKind::Alive;
    uint32_t code = 0; ///< Failed: a cgx_status
    std::array<char, 1016> text{};
  };
  /// A note on its way to one peer.
  struct NoteSlot {
    Note note;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  struct Peer {
    /// The last sign of life that was sent to it.
    std::unique_ptr<NoteSlot> alive = std::make_unique<NoteSlot>();
    MPI_Request beat = MPI_REQUEST_NULL; ///< the last one that was sent to it
    Clock::time_point heard;             ///< when something came from it
    Clock::time_point felt;              ///< when a beat came
    bool left = false;
    uint32_t doubts = 0; ///< looks that found it gone, or ahead, since it last delivered
    Clock::time_point doubtedAt;
  };

  template <typename Message> Status start(Message &message);
  template <typename Message> Status startWhole(Message &message, Posted &posted);
  template <typename Message> Status startInParts(Message &message, Posted &posted);
  template <typename Message>
  Status startPart(const Message &message, void *memory, int count, MPI_Datatype type, Posted &posted);
  Status advance(Posted &posted, bool &moved);
  Status checkArrived(const Posted &posted, int code) const;
  void complete(Posted &posted);
  Status readNotes(bool &moved);
  void tell(uint32_t rank, NoteSlot &slot);
  std::vector<std::unique_ptr<NoteSlot>> tellAll(const Note &note, std::chrono::milliseconds limit);
  std::optional<int> findLostStep(const Incoming &wanted) const;
  Status describeLostStep(const Incoming &wanted, int tag) const;
  void beat();
  void readBeats();
  static Status toldFailure(const Note &note, int source);
  void cancel();
  void drop();

  MPI_Comm communicator;
  uint32_t self;
  bool takesGpuMemory;
  std::vector<Peer> peers;
  std::list<Posted> messages;
  std::optional<MpiSlots> lent; ///< once it was asked for
  Clock::time_point lastAlive;
  std::chrono::milliseconds alivePeriod; ///< between two signs of life of a rank that waits
  Clock::time_point lastLook;            ///< for notes
  Status failed;
  uint64_t sent = 0;
  std::optional<Pulse> pulse; ///< last: it uses the peers
};

/// `connectMpi` with the MPI that this code was linked with.
Result<std::unique_ptr<Transport>> joinMpiWorld(const TransportConfig &config);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPITRANSPORT_H
