//===-- transport/tcp/TcpTransport.cpp - Messages over TCP ------*- C++ -*-===//
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

/// The bytes of a stream that are moved before it is the next one's turn.
static constexpr uint64_t kBurstBytes = 1 << 20;
/// No tensor is as long: a header with a larger size is damaged.
static constexpr uint64_t kMostMessageBytes = uint64_t(1) << 40;
/// The time between two checks for control messages, each of which costs a call for every peer.
static constexpr std::chrono::microseconds kLookPeriod{200};
/// The time in which the explanation of a closed connection arrives, which comes over another connection.
static constexpr std::chrono::milliseconds kExplanation{500};
/// The longest time that a rank which gives up, or leaves, takes to tell the others.
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
        peer.control = std::make_unique<ControlChannel>(std::move(channel));
      else
        peer.streams.emplace_back().channel = std::move(channel);
    }
    for (uint32_t lane = 0; lane < EagerSlots::kLanes; ++lane)
      lanes.push_back(rank == self ? nullptr : &peer.streams[lane].writer);
  }
  if (ranks() <= TcpSlots::kMostRanks)
    eager.emplace(ranks(), std::move(lanes));
  if (config.hasHeartbeat)
    heartbeat.emplace([this] {
      for (Peer &peer : peers)
        if (peer.control)
          peer.control->sendLiveness(ControlKind::Heartbeat);
    });
}

TcpTransport::~TcpTransport() {
  testDelay("tcp: before leaving");
  heartbeat.reset(); // no heartbeat may follow the last message
  const Clock::time_point deadline = Clock::now() + kFarewell;
  for (Peer &peer : peers) {
    if (!peer.control)
      continue;
    for (bool moved = true; failed.ok() && moved && Clock::now() < deadline;) {
      moved = false; // nobody has waited until the eager messages were sent
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
      peer.control->tell({.kind = ControlKind::Leaving});
    while (!peer.control->isToldAll() && !peer.control->isClosed() && Clock::now() < deadline) {
      const Watch watch{peer.control->descriptor(), true};
      waitForAny({&watch, 1}, deadline);
      peer.control->advance();
    }
    // Unread data must be read before closing: otherwise the close resets the connection, and data that was
    // sent is lost.
    bool moved = true;
    while (failed.ok() && moved) {
      moved = false;
      (void)readControlMessages(peer, /*rank=*/0, moved);
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
  sendLiveness(now);
  const bool looks = now - lastLook >= kLookPeriod;
  if (looks)
    lastLook = now;
  bool delivered = false;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank == self)
      continue;
    Status status = looks ? readControlMessages(peers[rank], rank, moved) : Status();
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
  // The messages that a rank sent before it gave up arrive over other connections, and may be all that this
  // one waited for.
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
      bytes += 1; // so that frames without bytes end the turn as well
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

/// Finds a place for the bytes of the next frame. Returns false if no receive wants it yet.
Result<bool> TcpTransport::placeFrame(Peer &peer, uint32_t rank, uint32_t stream) {
  const FrameHeader &header = peer.streams[stream].reader.header();
  if (header.magic != FrameHeader::kMagic)
    return Status::error(CGX_INTERNAL, "expected a message from rank ", rank, ", got other bytes");
  if (header.kind == FrameKind::Message && stream < streams)
    return placePart(peer, rank, stream);
  const bool isSound = header.kind == FrameKind::EagerMessage && eager && stream < EagerSlots::kLanes &&
                       header.bytes == header.total && header.offset == 0;
  if (!isSound || header.bytes == 0 || header.bytes > eager->capacity())
    return Status::error(CGX_INTERNAL, "rank ", rank, " sent an eager message of ", header.bytes,
                         " bytes, expected 1 to ", eager ? eager->capacity() : 0);
  const std::span<std::byte> space = eager->space(rank, stream, header.bytes);
  if (space.empty())
    return false;
  peer.streams[stream].reader.place({space});
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
  if (stream == 0) { // the first stream decides which message is next
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

/// Finds the receive that wants a message that begins.
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
    eager->arrived(rank, stream, header.tag, header.bytes);
    return Status();
  }
  auto arriving = std::ranges::find_if(
      peer.arriving, [&](const Arriving &candidate) { return candidate.sequence == header.sequence; });
  if (arriving == peer.arriving.end())
    return Status::error(CGX_INTERNAL, "rank ", rank, " sent a part of a message that has ended");
  arriving->left -= header.bytes;
  if (arriving->left != 0)
    return Status();
  if (!arriving->target) { // a receive may have been posted while it was arriving
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

/// Delivers a complete message to the receive that wants it.
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
// Control messages
//===----------------------------------------------------------------------===//

Status TcpTransport::readControlMessages(Peer &peer, uint32_t rank, bool &moved) {
  peer.control->advance();
  while (const std::optional<ControlMessage> message = peer.control->take()) {
    moved = true;
    if (message->kind == ControlKind::Leaving)
      peer.left = true;
    if (message->kind == ControlKind::Failed && told.ok())
      told = Status::error(message->code, "rank ", rank, " gave up: ", message->text);
    if (message->kind == ControlKind::PeerFailed && told.ok())
      told = Status(message->code, message->text);
  }
  if (const Status damage = peer.control->damage(); !damage.ok())
    return Status::error(CGX_INTERNAL, "rank ", rank, ": ", damage.message());
  return Status();
}

void TcpTransport::sendLiveness(Clock::time_point now) {
  if (now - lastAlive < alivePeriod)
    return;
  lastAlive = now;
  for (Peer &peer : peers)
    if (peer.control && !peer.left)
      peer.control->sendLiveness(ControlKind::Waiting);
}

void TcpTransport::idle(std::chrono::microseconds limit) {
  if (!failed.ok())
    return;
  sendLiveness(Clock::now());
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

/// Returns true if nothing more can arrive from the peer.
bool TcpTransport::isEnded(const Peer &peer) const {
  return std::ranges::all_of(peer.streams, [](const Stream &stream) { return stream.channel->isClosed(); });
}

Status TcpTransport::checkPeers() {
  // All peers are read first: another may explain more than that a rank is gone.
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    bool moved = false;
    if (rank == self)
      continue;
    if (Status status = readControlMessages(peers[rank], rank, moved); !status.ok())
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
    if (isEnd && eager)
      eager->noteEnd(rank);
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

std::vector<Clock::duration> TcpTransport::sinceProgress() {
  std::vector<Clock::duration> times(ranks());
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    bool moved = false;
    if (rank == self)
      continue;
    if (failed.ok())
      (void)readControlMessages(peers[rank], rank, moved);
    times[rank] = Clock::now() - std::max(peers[rank].heard, peers[rank].control->lastProgress());
  }
  return times;
}

std::vector<Clock::duration> TcpTransport::sinceHeartbeat() {
  std::vector<Clock::duration> sinceHeartbeat = sinceProgress();
  for (uint32_t rank = 0; rank < ranks(); ++rank)
    if (rank != self)
      sinceHeartbeat[rank] =
          std::min(sinceHeartbeat[rank], Clock::now() - peers[rank].control->lastHeartbeat());
  return sinceHeartbeat;
}

void TcpTransport::fail(const Status &reason) {
  if (!failed.ok())
    return;
  failed = reason;
  drop();
  // A rank that was told of a failure passes it on: to ranks that have not learned of it, this rank would
  // seem to have died.
  const ControlMessage message =
      told.ok() ? failureMessage(reason) : failureMessage(told, ControlKind::PeerFailed);
  const Clock::time_point deadline = Clock::now() + kFarewell;
  for (Peer &peer : peers)
    if (peer.control && !peer.left)
      peer.control->tell(message);
  for (Peer &peer : peers)
    while (peer.control && !peer.control->isToldAll() && !peer.control->isClosed() &&
           Clock::now() < deadline) {
      const Watch watch{peer.control->descriptor(), true};
      waitForAny({&watch, 1}, std::min(deadline, Clock::now() + std::chrono::milliseconds(5)));
      peer.control->advance();
    }
}

/// Drops all messages. Streams stay open, so that nobody takes their end for more than the control messages
/// say.
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
