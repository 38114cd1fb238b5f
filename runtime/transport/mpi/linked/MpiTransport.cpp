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
/// Tags of MPICH have 28 bits.
constexpr int kControlTag = 1 << 27;
constexpr int kFirstEagerTag = kControlTag + 1;
constexpr int kHeartbeatTag = kFirstEagerTag + int(EagerSlots::kLanes);
constexpr int kLargestTag = kHeartbeatTag;
/// MPI counts with int, so longer pieces are several blocks.
constexpr size_t kLongestBlock = size_t{1} << 30;
/// The time between two checks for control messages, each of which costs a call.
constexpr std::chrono::microseconds kLookPeriod{100};
constexpr std::chrono::milliseconds kLongPause{50};
/// The number and the duration of checks that must find that a peer has left or gone on before its missing
/// messages are given up.
constexpr uint32_t kSuspicions = 100;
/// A message of another step is received up to this size, to report its step.
constexpr MPI_Count kMostLostBytes = MPI_Count{64} << 20;
constexpr std::chrono::milliseconds kCancelPeriod{200};
constexpr std::chrono::milliseconds kSuspicionPeriod{200};

/// Returns a tag of 27 bits: four of the step, and a digest of the fields that tell messages of one exchange
/// apart.
int mpiTag(const Tag &tag) {
  uint32_t name = (tag.collective * 2654435761u + tag.phase * 40503u + tag.part) & 0x7fffffu;
  return int((uint32_t(tag.step & 15u) << 23) | name);
}

int stepBits(int tag) { return tag >> 23; }

/// Returns a datatype of header and pieces in place, with absolute addresses.
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
                           std::chrono::milliseconds timeout, bool takesGpuMemory, bool hasHeartbeat)
    : communicator(communicator), self(rank), takesGpuMemory(takesGpuMemory), peers(ranks),
      lastAlive(Clock::now()),
      alivePeriod(std::clamp(timeout / 16, std::chrono::milliseconds(5), std::chrono::milliseconds(50))) {
  for (Peer &peer : peers)
    peer.heard = peer.heartbeatAt = Clock::now();
  if (hasHeartbeat && mayCallMpiBesides())
    heartbeat.emplace([this] { sendHeartbeats(); });
}

MpiTransport::~MpiTransport() {
  testDelay("mpi: before leaving");
  heartbeat.reset();
  const MpiTurn turn;
  if (!isMpiAbandoned())
    for (Peer &peer : peers)
      if (peer.heartbeat != MPI_REQUEST_NULL)
        MPI_Request_free(&peer.heartbeat); // the request has no memory, so MPI may complete it by itself
  if (!failed.ok() || isMpiAbandoned())
    return;
  assert(messages.empty() && "MessageBatch completes its messages or fails");
  ControlMessage message;
  message.kind = ControlKind::Leaving;
  // A rank that computes for long, on a busy machine, receives control messages late: MPI keeps them until it
  // ends.
  for (std::unique_ptr<ControlSlot> &slot : tellAll(message, std::chrono::milliseconds(100))) {
    MPI_Request request = slot->request;
    finishBeforeMpiEnds(request, std::shared_ptr<ControlSlot>(std::move(slot)));
  }
  // The communicator is not freed until MPI ends: a control message still in flight would otherwise be taken
  // for one of the next communicator, which gets the same number.
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
  MPI_Type_free(&datatype); // takes effect when the message is complete
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
  if (!eager && failed.ok() && ranks() <= MpiSlots::kMostRanks) {
    eager.emplace(communicator, kFirstEagerTag, self, ranks());
    for (uint32_t rank = 0; rank < ranks(); ++rank)
      if (peers[rank].left)
        eager->noteLeaving(rank);
  }
  return eager ? &*eager : nullptr;
}

Status MpiTransport::progress(bool &moved) {
  const MpiTurn turn;
  moved = false;
  if (!failed.ok())
    return failed;
  if (eager)
    if (Status status = eager->progress(moved); !status.ok()) {
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
  // MPI moves messages only when it is called, so a rank that returns from long work has a backlog.
  uint32_t looks = now - lastLook >= kLongPause ? 64 : 1;
  lastLook = now;
  Status status;
  for (uint32_t i = 0; i < looks && status.ok(); ++i)
    status = readControlMessages(moved);
  return status;
}

/// Checks which parts of a message are complete, in their order.
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

/// Checks that a part that MPI reports as complete is the part that was expected.
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

/// Marks the message as done.
void MpiTransport::complete(Posted &posted) {
  if (posted.out) {
    sent += posted.header.bytes;
    posted.out->done = true;
    return;
  }
  Peer &peer = peers[posted.in->peer];
  peer.heard = Clock::now();
  peer.suspicions = 0;
  posted.in->done = true;
}

/// Returns the failure that another rank reports. The job is over whatever its code is, also if that is OK.
Status MpiTransport::toldFailure(const ControlMessage &message, int source) {
  const bool isFailure = message.code > CGX_OK && message.code <= CGX_INTERNAL;
  const std::string text(message.text.data(), strnlen(message.text.data(), message.text.size()));
  return Status::error(isFailure ? cgx_status(message.code) : CGX_INTERNAL, "rank ", source,
                       " gave up: ", text);
}

Status MpiTransport::readControlMessages(bool &moved) {
  for (;;) {
    int there = 0;
    MPI_Status mpi;
    if (Status status =
            mpiStatus(MPI_Iprobe(MPI_ANY_SOURCE, kControlTag, communicator, &there, &mpi), "MPI_Iprobe");
        !status.ok()) {
      fail(status);
      return failed;
    }
    if (!there)
      return Status();
    ControlMessage message;
    MPI_Recv(&message, sizeof(message), MPI_BYTE, mpi.MPI_SOURCE, kControlTag, communicator,
             MPI_STATUS_IGNORE);
    Peer &peer = peers[size_t(mpi.MPI_SOURCE)];
    peer.heard = Clock::now();
    switch (message.kind) {
    case ControlKind::Waiting:
      break;
    case ControlKind::Leaving:
      peer.left = true;
      if (eager)
        eager->noteLeaving(uint32_t(mpi.MPI_SOURCE));
      break;
    case ControlKind::Failed:
      failed = toldFailure(message, mpi.MPI_SOURCE);
      drop();
      return failed;
    default:
      fail(Status::error(CGX_INTERNAL, "expected a control message from rank ", mpi.MPI_SOURCE,
                         ", got other bytes"));
      return failed;
    }
    moved |= message.kind != ControlKind::Waiting;
  }
}

/// Sends a control message, unless the last one to that rank is still pending.
void MpiTransport::tell(uint32_t rank, ControlSlot &slot) {
  int done = 1;
  if (slot.request != MPI_REQUEST_NULL &&
      (MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done))
    return;
  MPI_Isend(&slot.message, sizeof(slot.message), MPI_BYTE, int(rank), kControlTag, communicator,
            &slot.request);
}

/// Sends a control message to all ranks and waits a short time until MPI has taken it. Returns those,
/// heartbeats included, that are still pending.
std::vector<std::unique_ptr<MpiTransport::ControlSlot>>
MpiTransport::tellAll(const ControlMessage &message, std::chrono::milliseconds limit) {
  Clock::time_point deadline = Clock::now() + limit;
  std::vector<std::unique_ptr<ControlSlot>> slots;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    slots.push_back(std::move(peers[rank].alive));
    if (rank != self && !peers[rank].left) {
      slots.push_back(std::make_unique<ControlSlot>());
      slots.back()->message = message;
      tell(rank, *slots.back());
    }
  }
  auto hasArrived = [](const std::unique_ptr<ControlSlot> &slot) {
    int done = 1;
    return slot->request == MPI_REQUEST_NULL ||
           (MPI_Test(&slot->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done);
  };
  while (std::erase_if(slots, hasArrived), !slots.empty() && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  return slots;
}

/// startMpi() asks for this level; a host program that started MPI may have asked for less.
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
  // MPI has no doorbell, so the sleep is short.
  std::this_thread::sleep_for(std::min(limit, std::chrono::microseconds(50)));
}

/// Returns the tag of a message from a peer that nobody has asked for and that belongs to another step than
/// the one this rank waits for.
std::optional<int> MpiTransport::findLostStep(const Incoming &wanted) const {
  int there = 0;
  MPI_Status mpi;
  MPI_Iprobe(int(wanted.peer), MPI_ANY_TAG, communicator, &there, &mpi);
  bool lost = there && mpi.MPI_TAG < kControlTag && stepBits(mpi.MPI_TAG) != stepBits(mpiTag(wanted.tag));
  return lost ? std::optional(mpi.MPI_TAG) : std::nullopt;
}

Status MpiTransport::describeLostStep(const Incoming &wanted, int tag) const {
  int there = 0;
  MPI_Status mpi;
  MPI_Count bytes = 0;
  MPI_Iprobe(int(wanted.peer), tag, communicator, &there, &mpi);
  if (there)
    MPI_Get_elements_x(&mpi, MPI_BYTE, &bytes); // MPI's other counts end at 2 GiB
  // A message can only be received whole to read its header, which is not done if it is large.
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
  if (Status status = readControlMessages(moved); !status.ok())
    return status;
  for (const Posted &posted : messages) {
    uint32_t rank = posted.out ? posted.out->peer : posted.in->peer;
    Peer &peer = peers[rank];
    std::optional<int> lost = posted.in && !peer.left ? findLostStep(*posted.in) : std::nullopt;
    if (!peer.left && !lost)
      continue;
    // Messages in flight arrive only if this rank calls MPI, however long ago they were sent.
    if (peer.suspicions++ == 0)
      peer.suspectedAt = Clock::now();
    if (peer.suspicions < kSuspicions || Clock::now() - peer.suspectedAt < kSuspicionPeriod)
      continue;
    return lost ? describeLostStep(*posted.in, *lost)
                : Status::error(CGX_PEER_DIED, "rank ", rank, " left the job");
  }
  return Status();
}

std::vector<Clock::duration> MpiTransport::sinceProgress() {
  const MpiTurn turn;
  bool moved = false;
  if (failed.ok())
    (void)readControlMessages(moved);
  std::vector<Clock::duration> times(ranks());
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    if (rank != self)
      times[rank] =
          Clock::now() - (eager ? std::max(peers[rank].heard, eager->heard(rank)) : peers[rank].heard);
  return times;
}

std::vector<Clock::duration> MpiTransport::sinceHeartbeat() {
  const MpiTurn turn;
  std::vector<Clock::duration> sinceHeartbeat = sinceProgress();
  if (failed.ok())
    readHeartbeats();
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    if (rank != self)
      sinceHeartbeat[rank] = std::min(sinceHeartbeat[rank], Clock::now() - peers[rank].heartbeatAt);
  return sinceHeartbeat;
}

/// Called by the heartbeat thread while this rank does work of its own. A rank that is inside MPI shows
/// progress by itself.
void MpiTransport::sendHeartbeats() {
  const std::optional<MpiTurn> turn = MpiTurn::tryToTake();
  if (!turn || isMpiAbandoned() || !failed.ok())
    return;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    int done = 1;
    if (rank == self || peer.left ||
        (peer.heartbeat != MPI_REQUEST_NULL &&
         (MPI_Test(&peer.heartbeat, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)))
      continue;
    MPI_Isend(nullptr, 0, MPI_BYTE, int(rank), kHeartbeatTag, communicator, &peer.heartbeat);
  }
  readHeartbeats(); // so that they do not accumulate
}

void MpiTransport::readHeartbeats() {
  for (int there = 1; there;) {
    MPI_Status mpi;
    if (MPI_Iprobe(MPI_ANY_SOURCE, kHeartbeatTag, communicator, &there, &mpi) != MPI_SUCCESS || !there)
      return;
    MPI_Recv(nullptr, 0, MPI_BYTE, mpi.MPI_SOURCE, kHeartbeatTag, communicator, MPI_STATUS_IGNORE);
    peers[size_t(mpi.MPI_SOURCE)].heartbeatAt = Clock::now();
  }
}

/// Cancels the messages that MPI still has, as far as it does so soon, because their owners free the memory
/// next. Messages in flight between two ranks may not be cancellable.
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

/// Drops all messages. MPI still knows the memory of some, so it must not be called again; their headers are
/// kept in case it is.
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
  ControlMessage message;
  message.kind = ControlKind::Failed;
  message.code = uint32_t(reason.getCode());
  std::string text = reason.message().substr(0, message.text.size() - 1);
  std::copy(text.begin(), text.end(), message.text.begin());
  for (std::unique_ptr<ControlSlot> &slot : tellAll(message, std::chrono::seconds(1)))
    (void)slot.release(); // MPI, which is not called again, may still read it
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
      *communicator, config.rank, config.ranks, config.timeout, *takesGpuMemory, config.hasHeartbeat));
}

} // namespace cgx
