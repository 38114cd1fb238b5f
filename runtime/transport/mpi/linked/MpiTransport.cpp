//===-- transport/mpi/linked/MpiTransport.cpp - Messages over MPI -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/mpi/linked/MpiTransport.h"

#include "MpiDeviceMemory.h"
#include "transport/TestDelay.h"
#include "transport/mpi/linked/MpiSession.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <thread>

namespace cgx {

namespace {

constexpr uint64_t kMagic = 0x4d50494d58474343; // "CCGXMIPM"
/// MPICH has tags of 28 bits.
constexpr int kNoteTag = 1 << 27;
constexpr int kFirstEagerTag = kNoteTag + 1;
constexpr int kBeatTag = kFirstEagerTag + int(EagerSlots::kLanes);
constexpr int kLargestTag = kBeatTag;
/// MPI counts with int: longer pieces are several blocks.
constexpr size_t kLongestBlock = size_t{1} << 30;
/// Between two looks for notes, each of which costs a call.
constexpr std::chrono::microseconds kLookPeriod{100};
constexpr std::chrono::milliseconds kLongAbsence{50};
/// How often, and for how long, a peer that has left or gone on must have been seen as such before
/// what it owes is given up.
constexpr uint32_t kDoubts = 100;
/// A message from another step is received, to say from which, up to this size.
constexpr MPI_Count kMostLostBytes = MPI_Count{64} << 20;
constexpr std::chrono::milliseconds kCancelPeriod{200};
constexpr std::chrono::milliseconds kDoubtPeriod{200};

/// 27 bits: four of the step, and what no two messages of one exchange share.
int mpiTag(const Tag &tag) {
  uint32_t name = (tag.collective * 2654435761u + tag.phase * 40503u + tag.part) & 0x7fffffu;
  return int((uint32_t(tag.step & 15u) << 23) | name);
}

int stepBits(int tag) { return tag >> 23; }

/// Header and pieces, in place: addresses are absolute.
template <typename Header, typename Message>
Result<MPI_Datatype> makeDatatype(Header &header, const Message &message) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> addresses;
  auto add = [&](const void *address, size_t bytes) {
    for (size_t done = 0; done < bytes; done += kLongestBlock) {
      lengths.push_back(int(std::min(bytes - done, kLongestBlock)));
      MPI_Aint at = 0;
      MPI_Get_address(static_cast<const char *>(address) + done, &at);
      addresses.push_back(at);
    }
  };
  add(&header, sizeof(header));
  for (const auto &piece : message.pieces)
    add(piece.data(), piece.size());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Status status = mpiStatus(
      MPI_Type_create_hindexed(int(lengths.size()), lengths.data(), addresses.data(), MPI_BYTE, &type),
      "MPI_Type_create_hindexed");
  if (status.ok())
    status = mpiStatus(MPI_Type_commit(&type), "MPI_Type_commit");
  if (!status.ok())
    return status;
  return type;
}

} // namespace

MpiTransport::MpiTransport(MPI_Comm communicator, uint32_t rank, uint32_t ranks,
                           std::chrono::milliseconds timeout, bool takesGpuMemory, bool hasPulse)
    : communicator(communicator), self(rank), takesGpuMemory(takesGpuMemory), peers(ranks),
      lastAlive(Clock::now()),
      alivePeriod(std::clamp(timeout / 16, std::chrono::milliseconds(5), std::chrono::milliseconds(50))) {
  for (Peer &peer : peers)
    peer.heard = peer.felt = Clock::now();
  if (hasPulse && mayCallMpiBesides())
    pulse.emplace([this] { beat(); });
}

MpiTransport::~MpiTransport() {
  testDelay("mpi: before leaving");
  pulse.reset();
  const MpiTurn turn;
  if (!isMpiAbandoned())
    for (Peer &peer : peers)
      if (peer.beat != MPI_REQUEST_NULL)
        MPI_Request_free(&peer.beat); // MPI ends it by itself: it has no memory
  if (!failed.ok() || isMpiAbandoned())
    return;
  assert(messages.empty() && "MessageBatch completes its messages or fails");
  Note note;
  note.kind = NoteKind::Leaving;
  // Who computes for long, on a busy machine, takes its notes late: MPI has them until it ends.
  for (std::unique_ptr<NoteSlot> &slot : tellAll(note, std::chrono::milliseconds(100))) {
    MPI_Request request = slot->request;
    finishBeforeMpiEnds(request, std::shared_ptr<NoteSlot>(std::move(slot)));
  }
  // The communicator stays until MPI ends: a note that is still on its way would otherwise be taken for a
  // message of the next one, which gets its number.
}

template <typename Message> Status MpiTransport::start(Message &message) {
  Posted &posted = messages.emplace_back();
  if constexpr (std::is_same_v<Message, Outgoing>) {
    posted.out = &message;
    posted.header = {kMagic, message.tag, messageBytes(message)};
  } else {
    posted.in = &message;
  }
  return message.onDevice ? startInParts(message, posted) : startWhole(message, posted);
}

template <typename Message> Status MpiTransport::startWhole(Message &message, Posted &posted) {
  Result<MPI_Datatype> type = makeDatatype(posted.header, message);
  if (!type.ok())
    return type.status();
  MPI_Datatype datatype = *type;
  Status status = startPart(message, MPI_BOTTOM, 1, datatype, posted);
  MPI_Type_free(&datatype); // when the message is complete
  return status;
}

template <typename Message> Status MpiTransport::startInParts(Message &message, Posted &posted) {
  Status status = startPart(message, &posted.header, sizeof(posted.header), MPI_BYTE, posted);
  for (const auto &piece : message.pieces)
    for (size_t done = 0; done < piece.size() && status.ok(); done += kLongestBlock)
      status = startPart(message, const_cast<std::byte *>(piece.data()) + done,
                         int(std::min(piece.size() - done, kLongestBlock)), MPI_BYTE, posted);
  return status;
}

template <typename Message>
Status MpiTransport::startPart(const Message &message, void *memory, int count, MPI_Datatype type,
                               Posted &posted) {
  const int peer = int(message.peer), tag = mpiTag(message.tag);
  MPI_Request &request = posted.requests.emplace_back(MPI_REQUEST_NULL);
  if constexpr (std::is_same_v<Message, Outgoing>)
    return mpiStatus(MPI_Isend(memory, count, type, peer, tag, communicator, &request), "MPI_Isend");
  else
    return mpiStatus(MPI_Irecv(memory, count, type, peer, tag, communicator, &request), "MPI_Irecv");
}

void MpiTransport::post(Outgoing &message) {
  testDelay("mpi: before sending", kSeldom);
  const MpiTurn turn;
  assert(message.peer != self && message.peer < ranks());
  if (!failed.ok())
    return;
  if (Status status = start(message); !status.ok())
    fail(status);
}

void MpiTransport::post(Incoming &message) {
  const MpiTurn turn;
  assert(message.peer != self && message.peer < ranks());
  if (!failed.ok())
    return;
  if (Status status = start(message); !status.ok())
    fail(status);
}

EagerSlots *MpiTransport::eagerSlots() {
  const MpiTurn turn;
  if (!lent && failed.ok() && ranks() <= MpiSlots::kMostRanks) {
    lent.emplace(communicator, kFirstEagerTag, self, ranks());
    for (uint32_t rank = 0; rank < ranks(); ++rank)
      if (peers[rank].left)
        lent->noteLeaving(rank);
  }
  return lent ? &*lent : nullptr;
}

Status MpiTransport::progress(bool &moved) {
  const MpiTurn turn;
  moved = false;
  if (!failed.ok())
    return failed;
  if (lent)
    if (Status status = lent->progress(moved); !status.ok()) {
      fail(status);
      return failed;
    }
  for (auto posted = messages.begin(); posted != messages.end();) {
    if (Status status = advance(*posted, moved); !status.ok()) {
      fail(status);
      return failed;
    }
    if (posted->arrived < posted->requests.size()) {
      ++posted;
      continue;
    }
    complete(*posted);
    posted = messages.erase(posted);
  }
  Clock::time_point now = Clock::now();
  if (now - lastLook < kLookPeriod)
    return Status();
  // MPI moves messages when it is called: who comes back from long work has some catching up to do.
  uint32_t looks = now - lastLook >= kLongAbsence ? 64 : 1;
  lastLook = now;
  Status status;
  for (uint32_t i = 0; i < looks && status.ok(); ++i)
    status = readNotes(moved);
  return status;
}

/// Looks which parts of a message are complete, in their order.
Status MpiTransport::advance(Posted &posted, bool &moved) {
  for (; posted.arrived < posted.requests.size(); ++posted.arrived) {
    int done = 0;
    const int code = MPI_Test(&posted.requests[posted.arrived], &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !done)
      return Status();
    moved = true;
    if (Status status = posted.out ? mpiStatus(code, "MPI_Isend") : checkArrived(posted, code); !status.ok())
      return status;
  }
  return Status();
}

/// Whether what MPI calls complete is a part of the message that was expected.
Status MpiTransport::checkArrived(const Posted &posted, int code) const {
  const Incoming &message = *posted.in;
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  if (kind == MPI_ERR_TRUNCATE)
    return Status::error(CGX_MISMATCH, "expected ", messageBytes(message), " bytes from rank ", message.peer,
                         " (", describe(message.tag), "), got more");
  if (code != MPI_SUCCESS)
    return mpiStatus(code, "MPI_Irecv");
  const Header &header = posted.header;
  if (header.magic != kMagic)
    return Status::error(CGX_INTERNAL, "expected a message header from rank ", message.peer,
                         ", got other bytes");
  if (header.tag != message.tag)
    return Status::error(CGX_MISMATCH, "rank ", message.peer, " is at ", describe(header.tag), ", rank ",
                         self, " at ", describe(message.tag));
  if (header.bytes != messageBytes(message))
    return Status::error(CGX_MISMATCH, "expected ", messageBytes(message), " bytes from rank ", message.peer,
                         " (", describe(message.tag), "), got ", header.bytes);
  return Status();
}

/// Tells who waits for it.
void MpiTransport::complete(Posted &posted) {
  if (posted.out) {
    sent += posted.header.bytes;
    posted.out->done = true;
    return;
  }
  Peer &peer = peers[posted.in->peer];
  peer.heard = Clock::now();
  peer.doubts = 0;
  posted.in->done = true;
}

/// What another rank says of why the job is over. It is over whatever stands there: also where that says that
/// all is well.
Status MpiTransport::toldFailure(const Note &note, int source) {
  const bool isFailure = note.code > CGX_OK && note.code <= CGX_INTERNAL;
  const std::string text(note.text.data(), strnlen(note.text.data(), note.text.size()));
  return Status::error(isFailure ? cgx_status(note.code) : CGX_INTERNAL, "rank ", source, " gave up: ", text);
}

Status MpiTransport::readNotes(bool &moved) {
  for (;;) {
    int there = 0;
    MPI_Status mpi;
    if (Status status =
            mpiStatus(MPI_Iprobe(MPI_ANY_SOURCE, kNoteTag, communicator, &there, &mpi), "MPI_Iprobe");
        !status.ok()) {
      fail(status);
      return failed;
    }
    if (!there)
      return Status();
    Note note;
    MPI_Recv(&note, sizeof(note), MPI_BYTE, mpi.MPI_SOURCE, kNoteTag, communicator, MPI_STATUS_IGNORE);
    Peer &peer = peers[size_t(mpi.MPI_SOURCE)];
    peer.heard = Clock::now();
    switch (note.kind) {
    case NoteKind::Alive:
      break;
    case NoteKind::Leaving:
      peer.left = true;
      if (lent)
        lent->noteLeaving(uint32_t(mpi.MPI_SOURCE));
      break;
    case NoteKind::Failed:
      failed = toldFailure(note, mpi.MPI_SOURCE);
      drop();
      return failed;
    default:
      fail(Status::error(CGX_INTERNAL, "expected a note from rank ", mpi.MPI_SOURCE, ", got other bytes"));
      return failed;
    }
    moved |= note.kind != NoteKind::Alive;
  }
}

/// Sends a note, unless the last one to that rank is still on its way.
void MpiTransport::tell(uint32_t rank, NoteSlot &slot) {
  int done = 1;
  if (slot.request != MPI_REQUEST_NULL &&
      (MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done))
    return;
  MPI_Isend(&slot.note, sizeof(slot.note), MPI_BYTE, int(rank), kNoteTag, communicator, &slot.request);
}

/// Sends a note to all ranks and waits until MPI has taken it, but not for long. Returns the notes, of this
/// and of life, that are still on their way.
std::vector<std::unique_ptr<MpiTransport::NoteSlot>> MpiTransport::tellAll(const Note &note,
                                                                           std::chrono::milliseconds limit) {
  Clock::time_point deadline = Clock::now() + limit;
  std::vector<std::unique_ptr<NoteSlot>> slots;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    slots.push_back(std::move(peers[rank].alive));
    if (rank != self && !peers[rank].left) {
      slots.push_back(std::make_unique<NoteSlot>());
      slots.back()->note = note;
      tell(rank, *slots.back());
    }
  }
  auto hasArrived = [](const std::unique_ptr<NoteSlot> &slot) {
    int done = 1;
    return slot->request == MPI_REQUEST_NULL ||
           (MPI_Test(&slot->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done);
  };
  while (std::erase_if(slots, hasArrived), !slots.empty() && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  return slots;
}

/// startMpi() sees to that; a host program that started MPI may have asked for less.
bool MpiTransport::servesAnyThread() const {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return provided >= MPI_THREAD_SERIALIZED;
}

void MpiTransport::idle(std::chrono::microseconds limit) {
  Clock::time_point now = Clock::now();
  if (failed.ok() && now - lastAlive >= alivePeriod) {
    const MpiTurn turn;
    lastAlive = now;
    for (uint32_t rank = 0; rank < ranks(); ++rank)
      if (rank != self && !peers[rank].left)
        tell(rank, *peers[rank].alive);
  }
  // MPI has no doorbell: look again soon.
  std::this_thread::sleep_for(std::min(limit, std::chrono::microseconds(50)));
}

/// The tag of a message from a peer that nobody has asked for and that belongs to another step than what
/// this rank waits for.
std::optional<int> MpiTransport::findLostStep(const Incoming &wanted) const {
  int there = 0;
  MPI_Status mpi;
  MPI_Iprobe(int(wanted.peer), MPI_ANY_TAG, communicator, &there, &mpi);
  bool lost = there && mpi.MPI_TAG < kNoteTag && stepBits(mpi.MPI_TAG) != stepBits(mpiTag(wanted.tag));
  return lost ? std::optional(mpi.MPI_TAG) : std::nullopt;
}

Status MpiTransport::describeLostStep(const Incoming &wanted, int tag) const {
  int there = 0;
  MPI_Status mpi;
  MPI_Count bytes = 0;
  MPI_Iprobe(int(wanted.peer), tag, communicator, &there, &mpi);
  if (there)
    MPI_Get_elements_x(&mpi, MPI_BYTE, &bytes); // its other counts end at 2 GiB
  // Only whole can it be received, to see what is in front: not where that costs much.
  if (!there || bytes < MPI_Count(sizeof(Header)) || bytes > kMostLostBytes)
    return Status::error(CGX_MISMATCH, "rank ", wanted.peer, " is at another step, with a message of ", bytes,
                         " bytes, rank ", self, " at ", describe(wanted.tag));
  std::vector<std::byte> message(static_cast<size_t>(bytes));
  MPI_Recv(message.data(), int(bytes), MPI_BYTE, int(wanted.peer), tag, communicator, MPI_STATUS_IGNORE);
  Header header;
  std::memcpy(&header, message.data(), sizeof(header));
  return Status::error(CGX_MISMATCH, "rank ", wanted.peer, " is at ", describe(header.tag), ", rank ", self,
                       " at ", describe(wanted.tag));
}

Status MpiTransport::checkPeers() {
  const MpiTurn turn;
  bool moved = false;
  if (Status status = readNotes(moved); !status.ok())
    return status;
  for (const Posted &posted : messages) {
    uint32_t rank = posted.out ? posted.out->peer : posted.in->peer;
    Peer &peer = peers[rank];
    std::optional<int> lost = posted.in && !peer.left ? findLostStep(*posted.in) : std::nullopt;
    if (!peer.left && !lost)
      continue;
    // What is on its way needs calls of MPI on this side to arrive, however long ago it was sent.
    if (peer.doubts++ == 0)
      peer.doubtedAt = Clock::now();
    if (peer.doubts < kDoubts || Clock::now() - peer.doubtedAt < kDoubtPeriod)
      continue;
    return lost ? describeLostStep(*posted.in, *lost)
                : Status::error(CGX_PEER_DIED, "rank ", rank, " left the job");
  }
  return Status();
}

std::vector<Clock::duration> MpiTransport::silence() {
  const MpiTurn turn;
  bool moved = false;
  if (failed.ok())
    (void)readNotes(moved);
  std::vector<Clock::duration> silence(ranks());
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    if (rank != self)
      silence[rank] =
          Clock::now() - (lent ? std::max(peers[rank].heard, lent->heard(rank)) : peers[rank].heard);
  return silence;
}

std::vector<Clock::duration> MpiTransport::absence() {
  const MpiTurn turn;
  std::vector<Clock::duration> absence = silence();
  if (failed.ok())
    readBeats();
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    if (rank != self)
      absence[rank] = std::min(absence[rank], Clock::now() - peers[rank].felt);
  return absence;
}

/// By the pulse, while this rank is at work of its own. A rank that has its turn shows life by itself.
void MpiTransport::beat() {
  const std::optional<MpiTurn> turn = MpiTurn::tryToTake();
  if (!turn || isMpiAbandoned() || !failed.ok())
    return;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    int done = 1;
    if (rank == self || peer.left ||
        (peer.beat != MPI_REQUEST_NULL &&
         (MPI_Test(&peer.beat, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)))
      continue;
    MPI_Isend(nullptr, 0, MPI_BYTE, int(rank), kBeatTag, communicator, &peer.beat);
  }
  readBeats(); // so that they do not pile up
}

void MpiTransport::readBeats() {
  for (int there = 1; there;) {
    MPI_Status mpi;
    if (MPI_Iprobe(MPI_ANY_SOURCE, kBeatTag, communicator, &there, &mpi) != MPI_SUCCESS || !there)
      return;
    MPI_Recv(nullptr, 0, MPI_BYTE, mpi.MPI_SOURCE, kBeatTag, communicator, MPI_STATUS_IGNORE);
    peers[size_t(mpi.MPI_SOURCE)].felt = Clock::now();
  }
}

/// Lets MPI forget what it still knows of the messages, as far as it does so soon: who waits for them frees
/// their memory next. What is on its way between two ranks MPI may not let go.
void MpiTransport::cancel() {
  for (Posted &posted : messages)
    for (size_t i = posted.arrived; posted.in && i < posted.requests.size(); ++i)
      if (posted.requests[i] != MPI_REQUEST_NULL)
        MPI_Cancel(&posted.requests[i]);
  const Clock::time_point deadline = Clock::now() + kCancelPeriod;
  for (Posted &posted : messages)
    for (size_t i = posted.arrived; posted.in && i < posted.requests.size(); ++i)
      for (int done = posted.requests[i] == MPI_REQUEST_NULL; !done && Clock::now() < deadline;)
        if (MPI_Test(&posted.requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
          break;
}

/// Forgets all messages. MPI still knows the memory of some, so that it must not be called again; their
/// headers stay, whoever calls it.
void MpiTransport::drop() {
  cancel();
  static auto *kept = new std::list<std::list<Posted>>; // until the process ends
  kept->push_back(std::move(messages));
  messages.clear();
  abandonMpi();
}

void MpiTransport::fail(const Status &reason) {
  const MpiTurn turn;
  if (!failed.ok())
    return;
  failed = reason;
  Note note;
  note.kind = NoteKind::Failed;
  note.code = uint32_t(reason.getCode());
  std::string text = reason.message().substr(0, note.text.size() - 1);
  std::copy(text.begin(), text.end(), note.text.begin());
  for (std::unique_ptr<NoteSlot> &slot : tellAll(note, std::chrono::seconds(1)))
    (void)slot.release(); // MPI, which is not called again, may still look at it
  drop();
}

Result<std::unique_ptr<Transport>> joinMpiWorld(const TransportConfig &config) {
  if (Status status = startMpi(config.timeout); !status.ok())
    return status;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (uint32_t(ranks) != config.ranks || uint32_t(rank) != config.rank)
    return Status::error(CGX_MISMATCH, "expected to be rank ", config.rank, " of ", config.ranks,
                         ", but MPI says rank ", rank, " of ", ranks, ": start the job with mpirun -n ",
                         config.ranks);
  int *largestTag = nullptr, known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largestTag, &known);
  if (!known || *largestTag < kLargestTag)
    return Status::error(CGX_UNSUPPORTED, "expected an MPI with tags up to ", kLargestTag);
  Result<MPI_Comm> communicator = makeCommunicator(config.timeout);
  if (!communicator.ok())
    return communicator.status();
  Result<bool> takesGpuMemory = takesDeviceMemory(*communicator, config.timeout);
  if (!takesGpuMemory.ok())
    return takesGpuMemory.status();
  return std::unique_ptr<Transport>(std::make_unique<MpiTransport>(
      *communicator, config.rank, config.ranks, config.timeout, *takesGpuMemory, config.hasPulse));
}

} // namespace cgx
