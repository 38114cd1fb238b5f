//===-- collective/PipelinedAllReduce.cpp - Piece by piece ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipelinedAllReduce.h"

#include "EagerGroup.h"
#include "collective/OperandCodec.h"
#include "transport/WaitLoop.h"

#include <algorithm>
#include <cstring>

namespace cgx {

namespace {

/// Bounds of an exact piece, in bytes, and how many a chunk is cut into between them. The longest is a
/// piece of other codecs, in f32 (cgx/wire.h), and fits into the eager messages of every transport.
constexpr uint64_t kShortestExactPiece = 16 * 1024;
constexpr uint64_t kLongestExactPiece = 128 * 1024;
constexpr uint64_t kExactPiecesPerChunk = 8;

/// Above the number of a message a result has what its sender wishes of the length of messages.
constexpr uint32_t kNumberBits = EagerSlots::kNumberBits, kNumberMask = EagerSlots::kNumberMask;
static_assert(AgreedLength::kLengths.size() <= 1u << (16 - kNumberBits));

/// Elements of a pair of operand and chunk that are one payload.
struct Piece {
  size_t operand;
  uint64_t first;    ///< element of the tensor
  uint64_t elements; ///< 0 for none
  uint64_t offset;   ///< of the payload in its eager message
  uint64_t bytes;    ///< of the payload
};

/// How far a chunk, over all operands, has got.
struct Cursor {
  size_t operand = 0;
  uint64_t element = 0; ///< of the chunk
  uint32_t eagerSlots = 0;
};

struct Operand {
  Operand(const Execution &execution, size_t index, const OperandBuffers &buffers, uint64_t uncompressedBytes)
      : codec(execution, index), chunks(codec.chunks()), buffers(buffers) {
    pieceElements = codec.isRaw() ? exactPieceElements(std::min(uncompressedBytes, kLongestExactPiece))
                                  : codec.pieceElements(chunks.size(0));
  }

  OperandCodec codec;
  Chunks chunks;
  OperandBuffers buffers;
  uint64_t pieceElements;

private:
  /// Nobody sees where exact chunks are cut: short ones into shorter pieces, which overlap as well.
  uint64_t exactPieceElements(uint64_t longest) const {
    uint64_t bytes =
        std::clamp(chunks.bytes(0) / kExactPiecesPerChunk, std::min(kShortestExactPiece, longest), longest);
    return bytes / codec.elementBytes();
  }
};

class Pipeline {
public:
  Pipeline(Execution &execution, Buffers buffers)
      : execution(execution), eagerSlots(*execution.transport.eagerSlots()), peers(execution, eagerSlots),
        self(execution.self()), size(execution.group.size()),
        traffic(eagerSlots.trafficOf(execution.group.ranks)), room(execution.scratch),
        sumRoom(execution.scratch) {
    if (traffic) {
      traffic->length.begin(size);
      mostBytes = std::min(mostBytes, traffic->length.bytes());
      mostExactBytes = std::min(mostExactBytes, traffic->length.bytes());
      traffic->window.begin(/*fewest=*/size - 1);
    }
    operands.reserve(buffers.size());
    for (size_t i = 0; i < buffers.size(); ++i)
      operands.emplace_back(execution, i, buffers[i], mostExactBytes);
    contributions.resize(size);
    results.resize(size);
    payloads.resize(size);
    for (uint32_t position = 0; position < size; ++position) {
      settle(position, contributions[position]);
      settle(position, results[position]);
    }
    for (const Transfer &transfer : stepOf(execution.pattern, kContribution, /*step=*/0, self).sends)
      targets.push_back(transfer.to);
    for (const Transfer &transfer : stepOf(execution.pattern, kResult, /*step=*/0, self).sends)
      others.push_back(execution.group.ranks[transfer.to]);
    next = nextTarget(/*behind=*/targets.size() - 1);
  }

  Status run() {
    CollectiveCounters &counters = execution.counters;
    auto worked = counters.encode.time + counters.decode.time;
    Status status;
    {
      Stopwatch stopwatch(counters.exchange);
      status = loop();
    }
    // The time that was not spent on encoding or decoding was spent on sending, receiving or waiting.
    counters.exchange.time -= counters.encode.time + counters.decode.time - worked;
    if (traffic && status.ok())
      traffic->length.end();
    return status;
  }

private:
  Status loop() {
    WaitLoop waiting(execution.transport, execution.timeout);
    for (;;) {
      bool worked = false;
      if (Status status = takeResults(worked); !status.ok())
        return status;
      if (Status status = reduce(worked); !status.ok())
        return status;
      contribute(worked);
      if (isDone())
        return Status();
      const auto isOwing = [&](uint32_t position) { return owes(position); };
      if (Status status = waiting.turn(worked, [&] { return peers.pending(isOwing); }); !status.ok())
        return status;
      if (!worked)
        if (Status status = peers.checkLeavers(isOwing); !status.ok())
          return status;
    }
  }

  bool isAtEnd(const Cursor &cursor) const { return cursor.operand == operands.size(); }

  bool isDone() const {
    return next == targets.size() && eagerSlots.isAllTaken() &&
           std::all_of(results.begin(), results.end(), [&](const Cursor &cursor) { return isAtEnd(cursor); });
  }

  /// Moves on to the next operand that has elements left in the chunk.
  void settle(uint32_t chunk, Cursor &cursor) const {
    while (!isAtEnd(cursor) && cursor.element == operands[cursor.operand].chunks.size(chunk)) {
      ++cursor.operand;
      cursor.element = 0;
    }
  }

  /// The pieces of the next eager message of a chunk: one of full size, or several that together are no
  /// larger.
  std::span<const Piece> nextEager(uint32_t chunk, Cursor &cursor) {
    pieces.clear();
    uint64_t offset = 0, raw = 0;
    while (!isAtEnd(cursor)) {
      const Operand &operand = operands[cursor.operand];
      uint64_t elements = std::min(operand.pieceElements, operand.chunks.size(chunk) - cursor.element);
      uint64_t bytes = operand.codec.payloadBytes(elements), elementBytes = operand.codec.elementBytes();
      uint64_t most = operand.codec.isRaw() ? mostExactBytes : mostBytes;
      bool fits = offset + bytes <= most && raw + elements * elementBytes <= eagerSlots.tensorBytes();
      bool aligned = !operand.codec.isRaw() || offset % elementBytes == 0;
      if (!pieces.empty() && !(fits && aligned))
        break;
      pieces.push_back(
          {cursor.operand, operand.chunks.begin(chunk) + cursor.element, elements, offset, bytes});
      offset += bytes;
      raw += elements * elementBytes;
      cursor.element += elements;
      settle(chunk, cursor);
    }
    ++cursor.eagerSlots;
    return pieces;
  }

  static uint64_t bytesOf(std::span<const Piece> eager) { return eager.back().offset + eager.back().bytes; }

  Tag tag(uint32_t phase, const Cursor &cursor) const {
    return execution.tag(phase, uint16_t(cursor.eagerSlots & kNumberMask));
  }

  const EagerMessage *due(uint32_t position, uint32_t phase) const { return peers.due(position, phase); }

  const std::byte *input(const Piece &piece) const {
    const Operand &operand = operands[piece.operand];
    return operand.buffers.input + piece.first * operand.codec.elementBytes();
  }
  std::byte *output(const Piece &piece) const {
    const Operand &operand = operands[piece.operand];
    return operand.buffers.output + piece.first * operand.codec.elementBytes();
  }

  void send(uint32_t phase, const Tag &tag, std::span<const Piece> eager,
            std::span<const uint32_t> receivers) {
    for (const Piece &piece : eager)
      execution.counters.operands[piece.operand].wireBytes += piece.bytes * receivers.size();
    eagerSlots.send(phase, tag, bytesOf(eager), receivers);
  }

  /// Returns whether this rank may send more: it is not too far ahead of the contributions that its own chunk
  /// receives. No rank waits forever, because the one that is behind all others has the first contributions
  /// of all, and is at most one message to each of them ahead.
  bool isPaced() {
    const Cursor &own = results[self];
    if (!traffic || isAtEnd(own))
      return true;
    uint64_t come = uint64_t(own.eagerSlots) * (size - 1);
    for (uint32_t position = 0; position < size; ++position)
      come += position != self && due(position, kContribution);
    traffic->window.noteReceived(come, Clock::now());
    return traffic->window.maySend();
  }

  /// Sends the next eager message of this rank's contributions: the first of each chunk, then the second of
  /// each.
  void contribute(bool &worked) {
    if (next == targets.size() || !isPaced())
      return;
    std::byte *memory = eagerSlots.reserve(kContribution);
    if (!memory)
      return;
    worked = true;
    uint32_t target = targets[next];
    Tag name = tag(kContribution, contributions[target]);
    std::span<const Piece> eager = nextEager(target, contributions[target]);
    {
      Stopwatch stopwatch(execution.counters.encode);
      for (const Piece &piece : eager)
        operands[piece.operand].codec.encode(kContribution, input(piece), piece.first, piece.elements,
                                             memory + piece.offset);
    }
    send(kContribution, name, eager, {&execution.group.ranks[target], 1});
    if (traffic)
      traffic->window.noteSent(Clock::now());
    next = nextTarget(next);
  }

  /// The target behind that one, around all of them, that has eager messages to come; their number if there
  /// is none.
  size_t nextTarget(size_t behind) const {
    for (size_t distance = 1; distance <= targets.size(); ++distance)
      if (size_t other = (behind + distance) % targets.size(); !isAtEnd(contributions[targets[other]]))
        return other;
    return targets.size();
  }

  /// Reduces the next eager message of this rank's chunk if all contributions are there.
  Status reduce(bool &worked) {
    Cursor &cursor = results[self];
    if (isAtEnd(cursor))
      return Status();
    for (uint32_t position = 0; position < size; ++position)
      if (position != self && !due(position, kContribution))
        return Status();
    std::byte *memory = eagerSlots.reserve(kResult);
    if (!memory)
      return Status();
    worked = true;
    Tag contribution = tag(kContribution, cursor), result = tag(kResult, cursor);
    std::span<const Piece> eager = nextEager(self, cursor);
    for (uint32_t position = 0; position < size; ++position)
      if (position != self)
        if (Status status =
                peers.check(position, *due(position, kContribution), contribution, bytesOf(eager));
            !status.ok())
          return status;
    for (const Piece &piece : eager)
      if (Status status = reducePiece(piece, memory + piece.offset); !status.ok())
        return status;
    for (uint32_t rank : others)
      eagerSlots.release(rank, kContribution);
    if (traffic) {
      // All ranks have given something when the first piece can be reduced.
      traffic->length.noteReceived(bytesOf(eager) * others.size(), Clock::now());
      result.part |= uint16_t(traffic->length.say(self) << kNumberBits);
    }
    send(kResult, result, eager, others);
    Stopwatch stopwatch(execution.counters.decode);
    for (const Piece &piece : eager)
      if (Status status = decode(piece, memory, self); !status.ok())
        return status;
    return Status();
  }

  /// Sums the contributions to a piece, in the order of the group, and encodes the sum.
  Status reducePiece(const Piece &piece, std::byte *payload) {
    const OperandCodec &codec = operands[piece.operand].codec;
    for (uint32_t position = 0; position < size; ++position)
      if (position != self)
        payloads[position] = due(position, kContribution)->bytes.data() + piece.offset;
    if (codec.isRaw()) {
      Stopwatch stopwatch(execution.counters.decode);
      payloads[self] = input(piece);
      return codec.reduce(payloads, piece.elements, payload);
    }
    std::byte *own = room.atLeast(eagerSlots.capacity());
    std::byte *sum = sumRoom.atLeast(std::max(kLongestExactPiece, piece.elements * codec.elementBytes()));
    {
      Stopwatch stopwatch(execution.counters.encode);
      codec.encode(kContribution, input(piece), piece.first, piece.elements, own);
    }
    payloads[self] = own;
    {
      Stopwatch stopwatch(execution.counters.decode);
      if (Status status = codec.reduce(payloads, piece.elements, sum); !status.ok())
        return status;
    }
    Stopwatch stopwatch(execution.counters.encode);
    codec.encode(kResult, sum, piece.first, piece.elements, payload);
    return Status();
  }

  Status decode(const Piece &piece, const std::byte *eager, uint32_t owner) const {
    return operands[piece.operand].codec.decode({eager + piece.offset, piece.bytes},
                                                execution.group.ranks[owner], piece.elements, output(piece));
  }

  /// Decodes all results that are there.
  Status takeResults(bool &worked) {
    for (uint32_t position = 0; position < size; ++position) {
      if (position == self)
        continue;
      Cursor &cursor = results[position];
      while (!isAtEnd(cursor)) {
        const EagerMessage *eager = due(position, kResult);
        if (!eager)
          break;
        worked = true;
        Stopwatch stopwatch(execution.counters.decode);
        Tag name = tag(kResult, cursor);
        std::span<const Piece> parts = nextEager(position, cursor);
        if (Status status = peers.check(position, *eager, name, bytesOf(parts)); !status.ok())
          return status;
        for (const Piece &piece : parts)
          if (Status status = decode(piece, eager->bytes.data(), position); !status.ok())
            return status;
        if (traffic) {
          traffic->length.hear(position, eager->tag.part >> kNumberBits);
          traffic->length.noteReceived(bytesOf(parts), Clock::now());
        }
        eagerSlots.release(execution.group.ranks[position], kResult);
      }
    }
    return Status();
  }

  /// Returns whether a message of this position is still missing.
  bool owes(uint32_t position) {
    if (position == self)
      return false;
    return (!isAtEnd(results[position]) && !due(position, kResult)) ||
           (!isAtEnd(results[self]) && !due(position, kContribution));
  }

  Execution &execution;
  EagerSlots &eagerSlots;
  EagerGroup peers;
  uint32_t self, size;
  std::vector<Operand> operands;
  std::vector<uint32_t> targets;     ///< positions that get contributions, in the order of the schedule
  std::vector<uint32_t> others;      ///< ranks that get results
  std::vector<Cursor> contributions; ///< of this rank, to each position
  std::vector<Cursor> results;       ///< of each position; this rank's own tells how far it has reduced
  size_t next;                       ///< target of the next contribution, or their number
  GroupTraffic *traffic;             ///< over a network, or null
  uint64_t mostBytes = eagerSlots.capacity();               ///< of an eager message, of payloads,
  uint64_t mostExactBytes = eagerSlots.uncompressedBytes(); ///< and of elements as they are
  std::vector<Piece> pieces;
  std::vector<const std::byte *> payloads; ///< of one piece, by position
  ScratchRoom room, sumRoom;
};

} // namespace

bool canPipelineAllReduce(const Execution &execution) {
  EagerSlots *eagerSlots = execution.transport.eagerSlots();
  if (!eagerSlots)
    return false;
  for (size_t i = 0; i < execution.collective.operands.size(); ++i) {
    OperandCodec codec(execution, i);
    if (codec.info().returnCodec) // of which payloads differ by phase
      return false;
    if (codec.isRaw())
      continue;
    uint64_t piece = cgx_piece_elements(&codec.info().codec);
    if (piece == 0 || codec.payloadBytes(piece) > eagerSlots->capacity() || !codec.hasFreePieces())
      return false;
  }
  return true;
}

Status runPipelinedAllReduce(Execution &execution, Buffers operands) {
  return Pipeline(execution, operands).run();
}

} // namespace cgx
