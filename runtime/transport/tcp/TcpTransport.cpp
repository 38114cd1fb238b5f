//===-- transport/tcp/TcpTransport.cpp - Messages over connections -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TcpTransport.h"

#include "transport/TestDelay.h"
#include "transport/tcp/Tcp.h"

#include <algorithm>
#include <cassert>
#include <poll.h>

namespace cgx::tcp {

/// Bytes of a stream that are moved before the next one's turn.
static constexpr uint64_t kBurstBytes = 1 << 20;
/// No tensor is as long: a header that says so was damaged.
static constexpr uint64_t kMostMessageBytes = uint64_t(1) << 40;
/// Between two looks for notes, each of which costs a call for every peer.
static constexpr std::chrono::microseconds kLookPeriod{200};
/// What explains that a connection has ended comes over another one, so much later at most.
static constexpr std::chrono::milliseconds kExplanation{500};
/// How long a rank that gives up, or leaves, takes to tell.
static constexpr std::chrono::milliseconds kFarewell{1000};

TcpTransport::TcpTransport(const TransportConfig &config, uint32_t streams, Joined joined)
    : network(std::move(joined.network)), self(config.rank), streams(streams), peers(config.ranks),
      lastAlive(Clock::now()), alivePeriod(std::clamp(config.timeout / 16, std::chrono::milliseconds(5),
                                                      std::chrono::milliseconds(50))) {
  std::vector<FrameWriter *> lanes;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    for (std::unique_ptr<Channel> &channel : joined.peers[rank]) {
      if (!peer.control)
        peer.control = std::make_unique<NoteLine>(std::move(channel));
      else
        peer.streams.emplace_back().channel = std::move(channel);
    }
    for (uint32_t lane = 0; lane < EagerSlots::kLanes; ++lane)
      lanes.push_back(rank == self ? nullptr : &peer.streams[lane].writer);
  }
  if (ranks() <= TcpSlots::kMostRanks)
    lent.emplace(ranks(), std::move(lanes));
  if (config.hasPulse)
    pulse.emplace([this] {
      for (Peer &peer : peers)
        if (peer.control)
          peer.control->showLife(NoteKind::Running);
    });
}

TcpTransport::~TcpTransport() {
  testDelay("tcp: before leaving");
  pulse.reset(); // nothing is said after the farewell
  const Clock::time_point deadline = Clock::now() + kFarewell;
  for (Peer &peer : peers) {
    if (!peer.control)
      continue;
    for (bool moved = true; failed.ok() && moved && Clock::now() < deadline;) {
      moved = false; // eager messages are sent without anybody's waiting for it
      push(peer, moved);
      const auto unsent =
          std::ranges::find_if(peer.streams, [](const Stream &stream) { return !stream.writer.isEmpty(); });
      if (moved || unsent == peer.streams.end() || unsent->channel->isClosed())
        continue;
      const Watch watch{unsent->channel->descriptor(), true};
      waitForAny({&watch, 1}, std::min(deadline, Clock::now() + std::chrono::milliseconds(5)));
      moved = true;
    }
    if (failed.ok())
      peer.control->tell({.kind = NoteKind::Leaving});
    while (!peer.control->isToldAll() && !peer.control->isClosed() && Clock::now() < deadline) {
      const Watch watch{peer.control->descriptor(), true};
      waitForAny({&watch, 1}, deadline);
      peer.control->advance();
    }
    // What was not read when a connection is closed would take back what was sent.
    bool moved = true;
    while (failed.ok() && moved) {
      moved = false;
      (void)readNotes(peer, /*rank=*/0, moved);
    }
  }
}

void TcpTransport::post(Outgoing &message) {
  testDelay("tcp: before sending", kSeldom);
  assert(message.peer != self && message.peer < ranks());
  if (!failed.ok())
    return;
  Peer &peer = peers[message.peer];
  FrameHeader header;
  header.tag = message.tag;
  header.total = messageBytes(message);
  header.sequence = peer.nextSequence++;
  Departing &departing = peer.departing.emplace_back(Departing{&message, 0});
  for (uint32_t stream = 0; stream < streams; ++stream) {
    const Part part = partOf(header.total, streams, stream);
    if (stream != 0 && part.bytes == 0)
      continue;
    header.offset = part.offset;
    header.bytes = part.bytes;
    ++departing.parts;
    peer.streams[stream].writer.put(header, slice<const std::byte>(message.pieces, part.offset, part.bytes),
                                    &departing.parts);
  }
}

void TcpTransport::post(Incoming &message) {
  assert(message.peer != self && message.peer < ranks());
  if (!failed.ok())
    return;
  Peer &peer = peers[message.peer];
  auto early = std::ranges::find_if(peer.arriving, [&](const Arriving &candidate) {
    return !candidate.target && candidate.tag == message.tag;
  });
  if (early == peer.arriving.end()) {
    peer.receives.push_back(&message);
    return;
  }
  Status status = matchesLength(message, early->total);
  if (status.ok()) {
    early->target = &message;
    if (early->left == 0)
      status = deliver(peer, early);
  }
  if (!status.ok())
    fail(status);
}

Status TcpTransport::progress(bool &moved) {
  moved = false;
  if (!failed.ok())
    return failed;
  const Clock::time_point now = Clock::now();
  showLife(now);
  const bool looks = now - lastLook >= kLookPeriod;
  if (looks)
    lastLook = now;
  bool delivered = false;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == self)
      continue;
    Status status = looks ? readNotes(peers[rank], rank, moved) : Status();
    push(peers[rank], moved);
    if (status.ok())
      status = pull(peers[rank], rank, delivered);
    if (!status.ok()) {
      fail(status);
      return failed;
    }
  }
  moved |= delivered;
  if (told.ok())
    return Status();
  fail(told);
  // What a rank sent before it gave up comes over another connection, and may be all that was waited for.
  return delivered ? Status() : failed;
}

void TcpTransport::push(Peer &peer, bool &moved) {
  for (Stream &stream : peer.streams)
    if (!stream.writer.isEmpty() && stream.writer.push(*stream.channel, kBurstBytes) != 0)
      moved = true;
  while (!peer.departing.empty() && peer.departing.front().parts == 0) {
    sent += messageBytes(*peer.departing.front().message);
    peer.departing.front().message->done = true;
    peer.departing.pop_front();
  }
}

Status TcpTransport::pull(Peer &peer, uint32_t rank, bool &moved) {
  for (uint32_t index = 0; index < peer.streams.size(); ++index) {
    Stream &stream = peer.streams[index];
    uint64_t bytes = 0;
    while (bytes < kBurstBytes) {
      stream.isHeld = false;
      if (!stream.reader.hasPlace()) {
        if (!stream.reader.readHeader(*stream.channel, bytes))
          break;
        Result<bool> isPlaced = placeFrame(peer, rank, index);
        if (!isPlaced.ok())
          return isPlaced.status();
        stream.isHeld = !*isPlaced;
        if (stream.isHeld)
          break;
      }
      if (!stream.reader.readBytes(*stream.channel, kBurstBytes - bytes, bytes))
        break;
      bytes += 1; // what has none, ends too
      if (Status status = endFrame(peer, rank, index); !status.ok())
        return status;
    }
    if (bytes != 0) {
      moved = true;
      peer.heard = Clock::now();
    }
  }
  return Status();
}

/// Finds a place for the bytes of the next frame. False where nobody wants it yet.
Result<bool> TcpTransport::placeFrame(Peer &peer, uint32_t rank, uint32_t stream) {
  const FrameHeader &header = peer.streams[stream].reader.header();
  if (header.magic != FrameHeader::kMagic)
    return Status::error(CGX_INTERNAL, "expected a message from rank ", rank, ", got other bytes");
  if (header.kind == FrameKind::Message && stream < streams)
    return placePart(peer, rank, stream);
  const bool isSound = header.kind == FrameKind::EagerMessage && lent && stream < EagerSlots::kLanes &&
                       header.bytes == header.total && header.offset == 0;
  if (!isSound || header.bytes == 0 || header.bytes > lent->capacity())
    return Status::error(CGX_INTERNAL, "rank ", rank, " sent an eager message of ", header.bytes,
                         " bytes, expected 1 to ", lent ? lent->capacity() : 0);
  const std::span<std::byte> room = lent->room(rank, stream, header.bytes);
  if (room.empty())
    return false;
  peer.streams[stream].reader.place({room});
  return true;
}

Result<bool> TcpTransport::placePart(Peer &peer, uint32_t rank, uint32_t stream) {
  FrameReader &reader = peer.streams[stream].reader;
  const FrameHeader &header = reader.header();
  const Part part = partOf(header.total, streams, stream);
  if (header.total > kMostMessageBytes || header.offset != part.offset || header.bytes != part.bytes)
    return Status::error(CGX_INTERNAL, "rank ", rank, " sent ", header.bytes, " bytes from ", header.offset,
                         " of ", header.total, " on stream ", stream, ", expected ", part.bytes, " from ",
                         part.offset);
  auto known = std::ranges::find_if(
      peer.arriving, [&](const Arriving &arriving) { return arriving.sequence == header.sequence; });
  Arriving *arriving = known == peer.arriving.end() ? nullptr : &*known;
  if (stream == 0) { // which says what comes next
    if (arriving)
      return Status::error(CGX_INTERNAL, "rank ", rank, " sent message ", header.sequence, " twice");
    if (peer.receives.empty())
      return false;
    Result<Arriving *> begun = beginMessage(peer, rank, header);
    if (!begun.ok())
      return begun.status();
    arriving = *begun;
  }
  if (!arriving)
    return false;
  if (arriving->total != header.total || arriving->left < header.bytes)
    return Status::error(CGX_INTERNAL, "rank ", rank, " sent parts of a message that do not fit together");
  if (arriving->aside)
    reader.place({std::span(arriving->aside.get() + header.offset, header.bytes)});
  else
    reader.place(slice<std::byte>(arriving->target->pieces, header.offset, header.bytes));
  return true;
}

/// Finds out who wants a message that begins.
Result<TcpTransport::Arriving *> TcpTransport::beginMessage(Peer &peer, uint32_t rank,
                                                            const FrameHeader &header) {
  Arriving arriving{header.sequence, header.tag, header.total, header.total, nullptr, nullptr};
  auto wanted = std::ranges::find_if(peer.receives,
                                     [&](const Incoming *message) { return message->tag == header.tag; });
  if (wanted != peer.receives.end()) {
    if (Status status = matchesLength(**wanted, header.total); !status.ok())
      return status;
    arriving.target = *wanted;
    peer.receives.erase(wanted);
  } else {
    const Tag &posted = peer.receives.front()->tag;
    if (posted.step != header.tag.step)
      return Status::error(CGX_MISMATCH, "rank ", rank, " is at ", cgx::describe(header.tag), ", rank ", self,
                           " at ", cgx::describe(posted));
    arriving.aside.reset(new (std::nothrow) std::byte[header.total]);
    if (!arriving.aside)
      return Status::error(CGX_RESOURCE_EXHAUSTED, "rank ", self, " has no memory for a message of ",
                           header.total, " bytes from rank ", rank, " (", cgx::describe(header.tag), ")");
  }
  peer.arriving.push_back(std::move(arriving));
  return &peer.arriving.back();
}

Status TcpTransport::endFrame(Peer &peer, uint32_t rank, uint32_t stream) {
  const FrameHeader &header = peer.streams[stream].reader.header();
  if (header.kind == FrameKind::EagerMessage) {
    lent->arrived(rank, stream, header.tag, header.bytes);
    return Status();
  }
  auto arriving = std::ranges::find_if(
      peer.arriving, [&](const Arriving &candidate) { return candidate.sequence == header.sequence; });
  if (arriving == peer.arriving.end())
    return Status::error(CGX_INTERNAL, "rank ", rank, " sent a part of a message that has ended");
  arriving->left -= header.bytes;
  if (arriving->left != 0)
    return Status();
  if (!arriving->target) { // somebody may have asked for it while it was on its way
    auto wanted = std::ranges::find_if(peer.receives,
                                       [&](const Incoming *message) { return message->tag == header.tag; });
    if (wanted == peer.receives.end())
      return Status();
    if (Status status = matchesLength(**wanted, header.total); !status.ok())
      return status;
    arriving->target = *wanted;
    peer.receives.erase(wanted);
  }
  return deliver(peer, arriving);
}

/// A message is whole, and somebody wants it.
Status TcpTransport::deliver(Peer &peer, std::list<Arriving>::iterator arrived) {
  if (arrived->aside) {
    const std::byte *from = arrived->aside.get();
    for (std::span<std::byte> piece : arrived->target->pieces) {
      std::copy_n(from, piece.size(), piece.begin());
      from += piece.size();
    }
  }
  arrived->target->done = true;
  peer.arriving.erase(arrived);
  return Status();
}

Status TcpTransport::matchesLength(const Incoming &message, uint64_t bytes) const {
  if (messageBytes(message) == bytes)
    return Status();
  return Status::error(CGX_MISMATCH, "expected ", messageBytes(message), " bytes from rank ", message.peer,
                       " (", cgx::describe(message.tag), "), got ", bytes);
}

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

Status TcpTransport::readNotes(Peer &peer, uint32_t rank, bool &moved) {
  peer.control->advance();
  while (const std::optional<Note> note = peer.control->take()) {
    moved = true;
    if (note->kind == NoteKind::Leaving)
      peer.left = true;
    if (note->kind == NoteKind::Failed && told.ok())
      told = Status::error(note->code, "rank ", rank, " gave up: ", note->text);
    if (note->kind == NoteKind::Heard && told.ok())
      told = Status(note->code, note->text);
  }
  if (const Status damage = peer.control->damage(); !damage.ok())
    return Status::error(CGX_INTERNAL, "rank ", rank, ": ", damage.message());
  return Status();
}

void TcpTransport::showLife(Clock::time_point now) {
  if (now - lastAlive < alivePeriod)
    return;
  lastAlive = now;
  for (Peer &peer : peers)
    if (peer.control && !peer.left)
      peer.control->showLife(NoteKind::Alive);
}

void TcpTransport::idle(std::chrono::microseconds limit) {
  if (!failed.ok())
    return;
  showLife(Clock::now());
  std::vector<pollfd> polls;
  for (const Peer &peer : peers) {
    if (!peer.control)
      continue;
    if (!peer.control->isClosed())
      polls.push_back({peer.control->descriptor(), POLLIN, 0});
    for (const Stream &stream : peer.streams) {
      const bool reads = !stream.isHeld, writes = !stream.writer.isEmpty() || stream.channel->wantsToWrite();
      if (!stream.channel->isClosed() && (reads || writes))
        polls.push_back(
            {stream.channel->descriptor(), short((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0});
    }
  }
  const timespec time{limit.count() / 1000000, limit.count() % 1000000 * 1000};
  (void)::ppoll(polls.data(), polls.size(), &time, nullptr);
  lastLook = {};
}

/// Whether nothing more can come from the peer.
bool TcpTransport::isEnded(const Peer &peer) const {
  return std::ranges::all_of(peer.streams, [](const Stream &stream) { return stream.channel->isClosed(); });
}

Status TcpTransport::checkPeers() {
  // All of them first: what explains more than that a rank is gone may come from another.
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    bool moved = false;
    if (rank == self)
      continue;
    if (Status status = readNotes(peers[rank], rank, moved); !status.ok())
      return status;
  }
  if (!told.ok())
    return told;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    Peer &peer = peers[rank];
    if (rank == self)
      continue;
    if (peer.control->isClosed() && !peer.left)
      return Status::error(CGX_PEER_DIED, "rank ", rank, " died");
    const bool isEnd = peer.left && isEnded(peer);
    if (isEnd && lent)
      lent->noteEnd(rank);
    const bool waits = !peer.receives.empty() || !peer.departing.empty() ||
                       std::ranges::any_of(peer.arriving, [](const Arriving &one) { return one.left != 0; });
    const bool cannotSend = peer.left && std::ranges::any_of(peer.streams, [](const Stream &stream) {
                              return stream.channel->isClosed() && !stream.writer.isEmpty();
                            });
    if ((isEnd && waits) || cannotSend)
      return Status::error(CGX_PEER_DIED, "rank ", rank, " left the job");
    const bool hasLost = !peer.left && std::ranges::any_of(peer.streams, [](const Stream &stream) {
      return stream.channel->isClosed();
    });
    if (hasLost && !peer.lostAt)
      peer.lostAt = Clock::now();
    if (hasLost && Clock::now() - *peer.lostAt >= kExplanation)
      return Status::error(CGX_PEER_DIED, "lost a connection to rank ", rank);
  }
  return Status();
}

std::vector<Clock::duration> TcpTransport::silence() {
  std::vector<Clock::duration> silence(ranks());
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    bool moved = false;
    if (rank == self)
      continue;
    if (failed.ok())
      (void)readNotes(peers[rank], rank, moved);
    silence[rank] = Clock::now() - std::max(peers[rank].heard, peers[rank].control->lastHeard());
  }
  return silence;
}

std::vector<Clock::duration> TcpTransport::absence() {
  std::vector<Clock::duration> absence = silence();
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    if (rank != self)
      absence[rank] = std::min(absence[rank], Clock::now() - peers[rank].control->lastFelt());
  return absence;
}

void TcpTransport::fail(const Status &reason) {
  if (!failed.ok())
    return;
  failed = reason;
  drop();
  // Who was told of a failure passes it on: to those who have not heard of it, this rank would else seem to
  // die.
  const Note note = told.ok() ? failureNote(reason) : failureNote(told, NoteKind::Heard);
  const Clock::time_point deadline = Clock::now() + kFarewell;
  for (Peer &peer : peers)
    if (peer.control && !peer.left)
      peer.control->tell(note);
  for (Peer &peer : peers)
    while (peer.control && !peer.control->isToldAll() && !peer.control->isClosed() &&
           Clock::now() < deadline) {
      const Watch watch{peer.control->descriptor(), true};
      waitForAny({&watch, 1}, std::min(deadline, Clock::now() + std::chrono::milliseconds(5)));
      peer.control->advance();
    }
}

/// Forgets all messages. Streams stay open, so that nobody takes their end for more than what notes say.
void TcpTransport::drop() {
  for (Peer &peer : peers) {
    peer.receives.clear();
    peer.arriving.clear();
    for (Stream &stream : peer.streams)
      stream.writer.clear();
    peer.departing.clear();
  }
}

} // namespace cgx::tcp

cgx::Result<std::unique_ptr<cgx::Transport>> cgx::connectTcp(const TransportConfig &config) {
  Result<tcp::TcpOptions> options = tcp::TcpOptions::from(config);
  if (!options.ok())
    return options.status();
  Result<tcp::Joined> joined = tcp::joinJob(config, *options);
  if (!joined.ok())
    return joined.status();
  return std::unique_ptr<Transport>(
      std::make_unique<tcp::TcpTransport>(config, options->streams, std::move(*joined)));
}
