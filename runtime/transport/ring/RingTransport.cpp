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

/// No tensor is as long: a header that says so was damaged.
static constexpr uint64_t kMostMessageBytes = uint64_t(1) << 40;

/// Bytes copied before the other side is told: large enough to amortize the
/// telling, small enough that both sides copy at the same time, and in cache.
static constexpr size_t kBurstBytes = 32 * 1024;

RingTransport::RingTransport(std::unique_ptr<Membership> membership, const TransportConfig &config)
    : membership(std::move(membership)), names(config.names), segment(this->membership->segment()),
      self(config.rank), peers(segment.ranks()) {
  if (config.hasPulse)
    pulse.emplace(
        [&counter = segment.member(self).pulse] { counter.fetch_add(1, std::memory_order_relaxed); });
  if (slotsPerLane(ranks()) != 0)
    lent.emplace(segment, self);
  uint64_t capacity = segment.ringBytes();
  for (uint32_t peer = 0; peer < ranks(); ++peer) {
    peers[peer].seen = peers[peer].felt = Clock::now();
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
  // The last one may still be on its way; then it is delivered when it is complete.
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

/// Copies an unexpected message to the one who has asked for it since.
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
      ringDoorbell(segment.member(rank));
    moved |= peerMoved;
  }
  if (lent) {
    if (!lent->damage().ok()) {
      fail(lent->damage());
      return failed;
    }
    uint64_t activity = lent->activity();
    moved |= activity != lentActivity;
    lentActivity = activity;
  }
  if (moved)
    segment.member(self).heartbeat.fetch_add(1, std::memory_order_relaxed);
  return Status();
}

/// Writes at most one burst of the first queued message.
bool RingTransport::push(Peer &peer) {
  size_t budget = kBurstBytes;
  while (!peer.sends.empty() && budget != 0) {
    Outgoing &message = *peer.sends.front();
    Cursor &cursor = peer.sending;
    if (!cursor.inMessage) {
      // A header goes in whole or not at all, so that `offset` needs to count pieces only.
      MessageHeader header{kMessageMagic, 0, message.tag, messageBytes(message)};
      if (!peer.writer.hasRoom(sizeof(header)))
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

/// Memory for more of a message of `whole` bytes that nobody has asked for yet: as much again as has come.
/// Its header alone, which may be damaged, does not decide how much memory it takes.
static void makeRoom(std::vector<std::byte> &bytes, uint64_t whole) {
  bytes.resize(std::min<uint64_t>(whole, std::max<uint64_t>(kBurstBytes, 2 * bytes.size())));
}

/// Reads at most one burst, and only while somebody wants something of this peer:
/// what nobody wants yet stays in the ring and holds its sender back.
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
        makeRoom(peer.unexpected.back().bytes, cursor.offset + cursor.left);
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

/// Reads the header at the front of the ring and finds out who wants the message.
Status RingTransport::beginReceive(Peer &peer, uint32_t rank) {
  const size_t read = peer.reader.read(std::as_writable_bytes(std::span(&peer.header, 1)));
  const MessageHeader &header = peer.header;
  if (read != sizeof header) // the position went back since
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
  // Somebody may have asked for it while it was on its way.
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
  Member &own = segment.member(self);
  own.heartbeat.fetch_add(1, std::memory_order_relaxed);
  sleepUntilRung(own, limit, [&] {
    if (segment.header().failed.load() != 0 || (lent && lent->activity() != lentActivity))
      return false;
    return std::none_of(peers.begin(), peers.end(), [](Peer &peer) {
      return (!peer.receives.empty() && peer.reader.available() != 0) ||
             (!peer.sends.empty() && peer.writer.hasRoom(1));
    });
  });
}

Status RingTransport::checkPeers() {
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == self)
      continue;
    Peer &peer = peers[rank];
    Member &member = segment.member(rank);
    bool left = member.state.load() == uint32_t(MemberState::Left);
    if (!left && !membership->isAlive(rank) && member.state.load() != uint32_t(MemberState::Left))
      return Status::error(CGX_PEER_DIED, "rank ", nameOf(rank), " died");
    // A rank may leave after it has sent all that others still read.
    bool drained = !peer.receives.empty() && peer.reader.available() == 0;
    bool stuck = !peer.sends.empty() && !peer.writer.hasRoom(1);
    if (left && (drained || stuck))
      return Status::error(CGX_PEER_DIED, "rank ", nameOf(rank), " left the job");
  }
  return Status();
}

std::vector<Clock::duration> RingTransport::silence() {
  std::vector<Clock::duration> silence(ranks());
  Clock::time_point now = Clock::now();
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    uint32_t heartbeat = segment.member(rank).heartbeat.load(std::memory_order_relaxed);
    if (heartbeat != peer.heartbeat || rank == self) {
      peer.heartbeat = heartbeat;
      peer.seen = now;
    }
    silence[rank] = now - peer.seen;
  }
  return silence;
}

std::vector<Clock::duration> RingTransport::absence() {
  std::vector<Clock::duration> absence = silence();
  Clock::time_point now = Clock::now();
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    uint32_t counted = segment.member(rank).pulse.load(std::memory_order_relaxed);
    if (counted != peer.pulse) {
      peer.pulse = counted;
      peer.felt = now;
    }
    absence[rank] = std::min(absence[rank], now - peer.felt);
  }
  return absence;
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
      ringDoorbell(segment.member(rank));
  }
}

} // namespace cgx
