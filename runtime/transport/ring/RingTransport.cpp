//===-- transport/ring/RingTransport.cpp - Messages over rings ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/ring/RingTransport.h"

#include "Doorbell.h"
#include "transport/TestDelay.h"

#include <algorithm>
#include <cstring>

namespace cgx {

static constexpr uint32_t kMessageMagic = 0x4d584743; // "CGXM"

/// No tensor is as long: a header with a larger size is damaged.
static constexpr uint64_t kMostMessageBytes = uint64_t(1) << 40;

/// The bytes that are copied before the other side is notified: enough to amortize the notification, few
/// enough that both sides copy at the same time, and in cache.
static constexpr size_t kBurstBytes = 32 * 1024;

RingTransport::RingTransport(std::unique_ptr<Membership> membership, const TransportConfig &config)
    : membership(std::move(membership)), names(config.names), segment(this->membership->segment()),
      self(config.rank), peers(segment.ranks()) {
  if (config.hasHeartbeat)
    heartbeat.emplace(
        [&counter = segment.record(self).heartbeat] { counter.fetch_add(1, std::memory_order_relaxed); });
  if (slotsPerLane(ranks()) != 0)
    eager.emplace(segment, self);
  uint64_t capacity = segment.ringBytes();
  for (uint32_t peer = 0; peer < ranks(); ++peer) {
    peers[peer].seen = peers[peer].heartbeatAt = Clock::now();
    if (peer == self)
      continue;
    peers[peer].writer = {segment.ringControl(self, peer), segment.ringData(self, peer), capacity};
    peers[peer].reader = {segment.ringControl(peer, self), segment.ringData(peer, self), capacity};
  }
}

void RingTransport::post(Outgoing &message) {
  testDelay("ring: before sending", kSeldom);
  assert(message.peer != self && message.peer < ranks());
  if (failed.ok())
    peers[message.peer].sends.push_back(&message);
}

void RingTransport::post(Incoming &message) {
  testDelay("ring: before receiving", kSeldom);
  assert(message.peer != self && message.peer < ranks());
  if (!failed.ok())
    return;
  Peer &peer = peers[message.peer];
  // The last message may still be arriving; it is delivered when it is complete.
  auto complete = peer.unexpected.end() - (peer.receiving.inMessage && !peer.target ? 1 : 0);
  auto early = std::find_if(peer.unexpected.begin(), complete,
                            [&](const Unexpected &candidate) { return candidate.tag == message.tag; });
  if (early == complete) {
    peer.receives.push_back(&message);
    return;
  }
  if (Status status = deliver(*early, message); !status.ok())
    fail(status);
  else
    peer.unexpected.erase(early);
}

/// Copies an unexpected message to the receive that has asked for it since.
Status RingTransport::deliver(const Unexpected &early, Incoming &message) const {
  if (Status status = matchesLength(message, early.bytes.size()); !status.ok())
    return status;
  size_t offset = 0;
  for (std::span<std::byte> piece : message.pieces) {
    std::copy_n(early.bytes.begin() + offset, piece.size(), piece.begin());
    offset += piece.size();
  }
  message.done = true;
  return Status();
}

Status RingTransport::progress(bool &moved) {
  moved = false;
  if (!failed.ok())
    return failed;
  if (Status told = segment.failure(names); !told.ok()) {
    fail(told);
    return failed;
  }
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    bool peerMoved = push(peer);
    if (Status status = pull(peer, rank, peerMoved); !status.ok()) {
      fail(status);
      return failed;
    }
    if (peerMoved)
      ringDoorbell(segment.record(rank));
    moved |= peerMoved;
  }
  if (eager) {
    if (!eager->damage().ok()) {
      fail(eager->damage());
      return failed;
    }
    uint64_t activity = eager->activity();
    moved |= activity != eagerActivity;
    eagerActivity = activity;
  }
  if (moved)
    segment.record(self).progressCount.fetch_add(1, std::memory_order_relaxed);
  return Status();
}

/// Writes at most one burst of the first queued message.
bool RingTransport::push(Peer &peer) {
  size_t budget = kBurstBytes;
  while (!peer.sends.empty() && budget != 0) {
    Outgoing &message = *peer.sends.front();
    Cursor &cursor = peer.sending;
    if (!cursor.inMessage) {
      // A header is written whole or not at all, so that `offset` counts pieces only.
      MessageHeader header{kMessageMagic, 0, message.tag, messageBytes(message)};
      if (!peer.writer.hasSpace(sizeof(header)))
        break;
      peer.writer.write(std::as_bytes(std::span(&header, 1)));
      cursor = {.inMessage = true, .piece = 0, .offset = 0, .left = header.bytes};
    }
    size_t before = budget;
    while (cursor.left != 0 && budget != 0) {
      std::span<const std::byte> piece = message.pieces[cursor.piece].subspan(cursor.offset);
      size_t count = peer.writer.write(piece.first(std::min(piece.size(), budget)));
      if (count == 0 && !piece.empty())
        break;
      budget -= count;
      cursor.left -= count;
      cursor.offset += count;
      if (count == piece.size()) {
        ++cursor.piece;
        cursor.offset = 0;
      }
    }
    sent += before - budget;
    if (cursor.left != 0)
      break;
    cursor.inMessage = false;
    message.done = true;
    peer.sends.pop_front();
  }
  return peer.writer.publish();
}

/// Extends the memory for an unexpected message of `whole` bytes, to twice what has arrived. The header
/// alone, which may be damaged, does not decide how much memory is taken.
static void growBuffer(std::vector<std::byte> &bytes, uint64_t whole) {
  bytes.resize(std::min<uint64_t>(whole, std::max<uint64_t>(kBurstBytes, 2 * bytes.size())));
}

/// Reads at most one burst, and only while a receive of this peer is posted: other messages stay in the ring
/// and hold their sender back.
Status RingTransport::pull(Peer &peer, uint32_t rank, bool &moved) {
  size_t budget = kBurstBytes;
  while (!peer.receives.empty() && budget != 0) {
    Cursor &cursor = peer.receiving;
    if (!cursor.inMessage) {
      if (peer.reader.available() < sizeof(MessageHeader) || peer.reader.corrupt())
        break;
      if (Status status = beginReceive(peer, rank); !status.ok())
        return status;
    }
    while (cursor.left != 0 && budget != 0) {
      if (!peer.target && cursor.offset == peer.unexpected.back().bytes.size())
        growBuffer(peer.unexpected.back().bytes, cursor.offset + cursor.left);
      std::span<std::byte> piece =
          (peer.target ? peer.target->pieces[cursor.piece] : std::span(peer.unexpected.back().bytes))
              .subspan(cursor.offset);
      size_t count = peer.reader.read(piece.first(std::min(piece.size(), budget)));
      if (count == 0 && !piece.empty())
        break;
      budget -= count;
      cursor.left -= count;
      cursor.offset += count;
      if (peer.target && count == piece.size()) {
        ++cursor.piece;
        cursor.offset = 0;
      }
    }
    if (cursor.left != 0)
      break;
    if (Status status = endReceive(peer); !status.ok())
      return status;
  }
  if (peer.reader.corrupt())
    return Status::error(CGX_INTERNAL, "the ring from rank ", nameOf(rank), " is damaged");
  moved |= peer.reader.release();
  return Status();
}

Status RingTransport::matchesLength(const Incoming &message, uint64_t bytes) const {
  if (messageBytes(message) == bytes)
    return Status();
  return Status::error(CGX_MISMATCH, "expected ", messageBytes(message), " bytes from rank ",
                       nameOf(message.peer), " (", describe(message.tag), "), got ", bytes);
}

/// Reads the header at the front of the ring and finds the receive that wants the message.
Status RingTransport::beginReceive(Peer &peer, uint32_t rank) {
  const size_t read = peer.reader.read(std::as_writable_bytes(std::span(&peer.header, 1)));
  const MessageHeader &header = peer.header;
  if (read != sizeof header) // the position has moved back since
    return Status::error(CGX_INTERNAL, "the ring from rank ", nameOf(rank), " is damaged");
  if (header.magic != kMessageMagic)
    return Status::error(CGX_INTERNAL, "expected a message header from rank ", nameOf(rank),
                         ", got other bytes");
  peer.receiving = {.inMessage = true, .piece = 0, .offset = 0, .left = header.bytes};
  auto wanted = std::find_if(peer.receives.begin(), peer.receives.end(),
                             [&](const Incoming *message) { return message->tag == header.tag; });
  if (wanted != peer.receives.end()) {
    peer.target = *wanted;
    return matchesLength(**wanted, header.bytes);
  }
  const Tag &posted = peer.receives.front()->tag;
  if (posted.step != header.tag.step)
    return Status::error(CGX_MISMATCH, "rank ", nameOf(rank), " is at ", describe(header.tag), ", rank ",
                         nameOf(self), " at ", describe(posted));
  if (header.bytes > kMostMessageBytes)
    return Status::error(CGX_INTERNAL, "expected a message of at most ", kMostMessageBytes,
                         " bytes from rank ", nameOf(rank), ", got one of ", header.bytes);
  peer.target = nullptr;
  peer.unexpected.push_back({header.tag, {}});
  return Status();
}

Status RingTransport::endReceive(Peer &peer) {
  peer.receiving.inMessage = false;
  if (peer.target) {
    peer.target->done = true;
    std::erase(peer.receives, peer.target);
    return Status();
  }
  // A receive may have been posted while the message was arriving.
  auto wanted = std::find_if(peer.receives.begin(), peer.receives.end(),
                             [&](const Incoming *message) { return message->tag == peer.header.tag; });
  if (wanted == peer.receives.end())
    return Status();
  if (Status status = deliver(peer.unexpected.back(), **wanted); !status.ok())
    return status;
  peer.unexpected.pop_back();
  peer.receives.erase(wanted);
  return Status();
}

void RingTransport::idle(std::chrono::microseconds limit) {
  LivenessRecord &own = segment.record(self);
  own.progressCount.fetch_add(1, std::memory_order_relaxed);
  sleepUntilRung(own, limit, [&] {
    if (segment.header().failed.load() != 0 || (eager && eager->activity() != eagerActivity))
      return false;
    return std::none_of(peers.begin(), peers.end(), [](Peer &peer) {
      return (!peer.receives.empty() && peer.reader.available() != 0) ||
             (!peer.sends.empty() && peer.writer.hasSpace(1));
    });
  });
}

Status RingTransport::checkPeers() {
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == self)
      continue;
    Peer &peer = peers[rank];
    LivenessRecord &record = segment.record(rank);
    bool left = record.state.load() == uint32_t(RankState::Left);
    if (!left && !membership->isAlive(rank) && record.state.load() != uint32_t(RankState::Left))
      return Status::error(CGX_PEER_DIED, "rank ", nameOf(rank), " died");
    // A rank may leave after it has sent all that others still read.
    bool drained = !peer.receives.empty() && peer.reader.available() == 0;
    bool stuck = !peer.sends.empty() && !peer.writer.hasSpace(1);
    if (left && (drained || stuck))
      return Status::error(CGX_PEER_DIED, "rank ", nameOf(rank), " left the job");
  }
  return Status();
}

std::vector<Clock::duration> RingTransport::sinceProgress() {
  std::vector<Clock::duration> times(ranks());
  Clock::time_point now = Clock::now();
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    uint32_t progressCount = segment.record(rank).progressCount.load(std::memory_order_relaxed);
    if (progressCount != peer.progressCount || rank == self) {
      peer.progressCount = progressCount;
      peer.seen = now;
    }
    times[rank] = now - peer.seen;
  }
  return times;
}

std::vector<Clock::duration> RingTransport::sinceHeartbeat() {
  std::vector<Clock::duration> sinceHeartbeat = sinceProgress();
  Clock::time_point now = Clock::now();
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    uint32_t counted = segment.record(rank).heartbeat.load(std::memory_order_relaxed);
    if (counted != peer.heartbeat) {
      peer.heartbeat = counted;
      peer.heartbeatAt = now;
    }
    sinceHeartbeat[rank] = std::min(sinceHeartbeat[rank], now - peer.heartbeatAt);
  }
  return sinceHeartbeat;
}

void RingTransport::fail(const Status &reason) {
  if (!failed.ok())
    return;
  failed = reason;
  segment.fail(self, reason);
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    peer.sends.clear();
    peer.receives.clear();
    peer.unexpected.clear();
    if (rank != self)
      ringDoorbell(segment.record(rank));
  }
}

} // namespace cgx
