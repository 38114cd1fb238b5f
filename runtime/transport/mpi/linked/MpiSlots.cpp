//===-- transport/mpi/linked/MpiSlots.cpp - Short messages over MPI ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/mpi/linked/MpiSlots.h"

#include "transport/mpi/linked/MpiSession.h"

#include <algorithm>
#include <cassert>

namespace cgx {

namespace {

/// The number of receives of all lanes and peers together, and the bounds for one of each.
constexpr uint32_t kReceives = 64, kFewestReceives = 2, kMostReceives = 8;
/// Sends of up to so many bytes are not synchronous: the answer would take as long as the message. The limit
/// is below all lengths that long tensors are divided into, so that few of them can arrive unexpected. The
/// first messages of a collective are not synchronous either, because receives are posted for them.
constexpr uint64_t kMostUnawaited = 4 * 1024;
static_assert(kMostUnawaited < AgreedLength::kLengths.front());
/// The time in which messages that a peer sent before it left arrive, if this rank calls MPI.
constexpr std::chrono::milliseconds kArrival{200};

} // namespace

MpiSlots::MpiSlots(MPI_Comm communicator, int firstTag, uint32_t rank, uint32_t ranks)
    : communicator(communicator), firstTag(firstTag), self(rank), ranks(ranks),
      receives(std::clamp(kReceives / (ranks * kLanes), kFewestReceives, kMostReceives)),
      in(new Buffer[size_t(ranks) * kLanes * receives]), out(new Buffer[size_t(kLanes) * kSlots]),
      requests(sendOf(kLanes - 1, kSlots - 1, ranks - 1) + 1, MPI_REQUEST_NULL), completed(requests.size()),
      inboxes(size_t(ranks) * kLanes), lastHeard(ranks, Clock::now()), leftAt(ranks) {
  for (Inbox &inbox : inboxes)
    inbox.came.resize(receives);
  for (uint32_t peer = 0; peer < ranks; ++peer)
    for (uint32_t lane = 0; lane < kLanes && peer != self; ++lane)
      for (uint32_t slot = 0; slot < receives; ++slot)
        post(peer, lane, slot);
}

MpiSlots::~MpiSlots() {
  const MpiTurn turn;
  if (isMpiAbandoned())
    return;
  assert(unsent == 0 && "an all-reduce ends when its eager messages are taken, or fails");
  for (MPI_Request &request : requests)
    if (request != MPI_REQUEST_NULL) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

void MpiSlots::note(int code, const char *call) {
  if (Status status = mpiStatus(code, call); !status.ok() && damaged.ok())
    damaged = status;
}

void MpiSlots::post(uint32_t peer, uint32_t lane, uint32_t slot) {
  if (isMpiAbandoned())
    return;
  uint32_t receive = receiveOf(routeOf(peer, lane), slot);
  const MpiTurn turn;
  note(MPI_Irecv(&in[receive], int(sizeof(Buffer)), MPI_BYTE, int(peer), firstTag + int(lane), communicator,
                 &requests[receive]),
       "MPI_Irecv");
}

std::byte *MpiSlots::reserve(uint32_t lane) {
  Outbox &outbox = outboxes[lane];
  // The first free slot is taken, not the next one: it is still in the cache.
  for (uint32_t slot = 0; slot < kSlots && !outbox.reserved && !isMpiAbandoned(); ++slot)
    if (outbox.receivers[slot] == 0)
      outbox.reserved = slot;
  return outbox.reserved ? out[lane * kSlots + *outbox.reserved].bytes.data() : nullptr;
}

void MpiSlots::send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) {
  Outbox &outbox = outboxes[lane];
  assert(outbox.reserved && bytes <= kCapacity && !receivers.empty());
  uint32_t slot = *outbox.reserved;
  Buffer &buffer = out[lane * kSlots + slot];
  buffer.header = {tag, bytes};
  const MpiTurn turn;
  const bool waits = bytes > kMostUnawaited && (tag.part & kNumberMask) >= receives;
  for (uint32_t receiver : receivers) {
    note((waits ? MPI_Issend : MPI_Isend)(&buffer, int(offsetof(Buffer, bytes) + bytes), MPI_BYTE,
                                          int(receiver), firstTag + int(lane), communicator,
                                          &requests[sendOf(lane, slot, receiver)]),
         waits ? "MPI_Issend" : "MPI_Isend");
    sent += bytes;
  }
  outbox.receivers[slot] = uint32_t(receivers.size());
  unsent += receivers.size();
  outbox.reserved.reset();
}

void MpiSlots::complete(uint32_t request) {
  uint32_t allReceives = ranks * kLanes * receives;
  if (request < allReceives) {
    uint32_t route = request / receives;
    inboxes[route].came[request % receives] = true;
    lastHeard[route / kLanes] = Clock::now();
    return;
  }
  uint32_t slot = (request - allReceives) / ranks;
  --outboxes[slot / kSlots].receivers[slot % kSlots];
  --unsent;
  lastHeard[(request - allReceives) % ranks] = Clock::now();
}

Status MpiSlots::progress(bool &moved) {
  const MpiTurn turn;
  int count = 0;
  note(MPI_Testsome(int(requests.size()), requests.data(), &count, completed.data(), MPI_STATUSES_IGNORE),
       "MPI_Testsome");
  for (int i = 0; count != MPI_UNDEFINED && i < count && damaged.ok(); ++i)
    complete(uint32_t(completed[size_t(i)]));
  moved |= count != MPI_UNDEFINED && count > 0;
  return damaged;
}

const EagerMessage *MpiSlots::front(uint32_t peer, uint32_t lane) {
  uint32_t route = routeOf(peer, lane);
  Inbox &inbox = inboxes[route];
  if (!inbox.eager && inbox.came[inbox.head]) {
    const Buffer &buffer = in[receiveOf(route, inbox.head)];
    if (buffer.header.bytes > kCapacity) {
      damaged = Status::error(CGX_INTERNAL, "rank ", peer, " sent an eager message of ", buffer.header.bytes,
                              " bytes, expected at most ", kCapacity);
      return nullptr;
    }
    inbox.eager = EagerMessage{buffer.header.tag, std::span(buffer.bytes).first(buffer.header.bytes)};
  }
  return inbox.eager ? &*inbox.eager : nullptr;
}

void MpiSlots::release(uint32_t peer, uint32_t lane) {
  Inbox &inbox = inboxes[routeOf(peer, lane)];
  assert(inbox.eager);
  inbox.eager.reset();
  inbox.came[inbox.head] = false;
  post(peer, lane, inbox.head);
  inbox.head = (inbox.head + 1) % receives;
}

bool MpiSlots::hasLeft(uint32_t peer) const {
  return leftAt[peer] && Clock::now() - *leftAt[peer] >= kArrival;
}

} // namespace cgx
