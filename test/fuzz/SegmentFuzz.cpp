//===-- test/fuzz/SegmentFuzz.cpp - Shared memory that another rank wrote -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// First, the header of a segment is arbitrary. Then a rank communicates over a valid segment with a peer that
// sends arbitrary messages and overwrites arbitrary bytes.
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "transport/ring/RingTransport.h"

#include <array>
#include <cstdlib>
#include <deque>
#include <memory>
#include <sanitizer/asan_interface.h>

using namespace cgx;

namespace {

constexpr uint32_t kRanks = 2;
constexpr uint64_t kRingBytes = 256;

/// The memory of all executions. Mapping and zeroing it anew for each took nearly all of the time.
class Arena {
public:
  static constexpr uint64_t kBytes = uint64_t(1) << 24;

  /// Returns exactly `bytes` bytes, so that a sanitizer sees an access beyond them.
  std::byte *ofBytes(uint64_t bytes) {
    if (bytes < end)
      ASAN_POISON_MEMORY_REGION(memory + bytes, end - bytes);
    else
      ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
    end = bytes;
    return memory;
  }

private:
  // Slots are aligned to pages from the beginning of the segment.
  std::byte *memory = static_cast<std::byte *>(std::aligned_alloc(4096, kBytes));
  uint64_t end = kBytes;
};

class Members final : public Membership {
public:
  explicit Members(Segment segment) : held(segment) {}
  Segment segment() const override { return held; }
  bool isAlive(uint32_t) const override { return true; }

private:
  Segment held;
};

Arena arena;

void expectReason(const Status &status) {
  if (!status.ok() && status.message().empty())
    __builtin_trap();
}

/// Attaches to a file of the size in its header, or of a few other sizes.
void attach(Bytes input) {
  SegmentHeader header{};
  header.magic = input.take<uint8_t>() % 8 ? kSegmentMagic : input.take<uint64_t>();
  header.layout = input.take<uint8_t>() % 8 ? kSegmentLayout : input.take<uint32_t>();
  header.abiVersion = input.take<uint8_t>() % 8 ? CGX_ABI_VERSION : input.take<uint32_t>();
  header.ranks = input.take<uint8_t>() % 2 ? input.take<uint8_t>() : input.take<uint32_t>();
  header.ringBytes = input.take<uint8_t>() % 2 ? uint64_t(1) << input.between(0, 12) : input.take<uint64_t>();
  header.totalBytes = input.take<uint64_t>();
  uint64_t bytes = header.ranks ? Segment::totalBytes(header.ranks, header.ringBytes) : 0;
  if (bytes < sizeof header || bytes > Arena::kBytes || input.take<uint8_t>() % 4 == 0)
    bytes = sizeof header + input.take<uint16_t>();
  std::byte *memory = arena.ofBytes(bytes);
  std::memcpy(static_cast<void *>(memory), static_cast<const void *>(&header), sizeof header);
  Result<Segment> segment = Segment::attach(memory, bytes, "job", 0);
  expectReason(segment.ok() ? Status() : segment.status());
  if (!segment.ok())
    return;
  std::memset(
      static_cast<void *>(memory + sizeof header), 0,
      uint64_t(reinterpret_cast<std::byte *>(&segment->failureRecord(segment->ranks()) + 1) - memory) -
          sizeof header);
  for (uint32_t rank = 0; rank < segment->ranks(); ++rank)
    (void)segment->record(rank).state.load();
  const uint32_t failed = input.take<uint8_t>() % 2 ? input.take<uint8_t>() : input.take<uint32_t>();
  segment->header().failed.store(failed);
  expectReason(segment->failure());
  segment->header().failed.store(0);
  segment->fail(segment->ranks(), Status(CGX_INTERNAL, "reason"));
  expectReason(segment->failure());
}

/// The header of each message in a ring, as RingTransport writes it.
struct MessageHeader {
  uint32_t magic = 0x4d584743, reserved = 0;
  Tag tag;
  uint64_t bytes = 0;
};

/// Rank 0 of a segment of small rings, with a peer that writes arbitrary bytes between its calls.
class Conversation {
public:
  explicit Conversation(Bytes input)
      : input(input), memory(arena.ofBytes(Segment::totalBytes(kRanks, kRingBytes))),
        segment(clear(memory), kRanks, kRingBytes),
        transport(std::make_unique<Members>(segment), {.job = "job", .rank = 0, .ranks = kRanks}) {}

  void run() {
    for (int turn = 0; turn < 16 && !input.rest().empty(); ++turn) {
      for (uint32_t acts = input.between(0, 3); acts > 0; --acts)
        actOfPeer();
      actOfRank();
      bool moved = false;
      expectReason(transport.progress(moved));
      expectReason(transport.checkPeers());
      (void)transport.sinceHeartbeat();
    }
    transport.fail(Status(CGX_INTERNAL, "done"));
  }

private:
  /// Headers, members, notes, rings and lanes lie in front of the slots.
  static uint64_t controlBytes(std::byte *memory) {
    return uint64_t(Segment(memory, kRanks, kRingBytes).slot(0, 0, 0) - memory);
  }

  static std::byte *clear(std::byte *memory) {
    std::memset(memory, 0, controlBytes(memory));
    const Segment segment = Segment::initialize(memory, kRanks, kRingBytes);
    for (uint32_t rank = 0; rank < kRanks; ++rank)
      segment.record(rank).state.store(uint32_t(RankState::Joined));
    return memory;
  }

  /// Returns a posted tag, or an arbitrary one.
  Tag takeTag() {
    return {.step = input.take<uint8_t>() % 8 ? 1 : input.take<uint64_t>(),
            .collective = input.between(1, 3)};
  }

  void actOfPeer() {
    switch (input.take<uint8_t>() % 4) {
    case 0: { // a message, followed by as many bytes as there is space for
      const MessageHeader header{.tag = takeTag(),
                                 .bytes = input.take<uint8_t>() % 4 ? input.take<uint16_t>() % 512
                                                                    : input.take<uint64_t>()};
      std::byte bytes[kRingBytes] = {};
      std::memcpy(bytes, &header, sizeof header);
      const auto count = uint32_t(std::min<uint64_t>(header.bytes, input.take<uint8_t>()));
      told.write(std::span(bytes).first(std::min<uint64_t>(sizeof header + count, kRingBytes)));
      told.publish();
      return;
    }
    case 1: { // more bytes of a message
      const std::byte bytes[kRingBytes] = {};
      told.write(std::span(bytes).first(1 + input.take<uint8_t>() % kRingBytes));
      told.publish();
      return;
    }
    case 2: { // an eager message
      const uint32_t lane = input.take<uint8_t>() % EagerSlots::kLanes;
      EagerDescriptor &descriptor = segment.lane(1, 0, lane).descriptors[eager[lane] % kLaneMessages];
      descriptor.tag = takeTag();
      descriptor.slot =
          input.take<uint8_t>() % 8 ? input.take<uint8_t>() % slotsPerLane(kRanks) : input.take<uint32_t>();
      descriptor.bytes =
          input.take<uint8_t>() % 8 ? uint32_t(input.take<uint32_t>() % kSlotBytes) : input.take<uint32_t>();
      descriptor.number.store(++eager[lane]);
      return;
    }
    default: { // arbitrary bytes anywhere
      const uint64_t at =
          sizeof(SegmentHeader) + input.take<uint32_t>() % (controlBytes(memory) - sizeof(SegmentHeader) - 8);
      const auto value = input.take<uint64_t>();
      std::memcpy(memory + at, &value, input.between(1, 8));
    }
    }
  }

  void actOfRank() {
    EagerSlots &slots = *transport.eagerSlots();
    const uint32_t lane = input.take<uint8_t>() % EagerSlots::kLanes;
    switch (input.take<uint8_t>() % 5) {
    case 0:
      transport.post(sends.emplace_back(
          Outgoing{.peer = 1, .tag = takeTag(), .pieces = {std::span<const std::byte>(out)}}));
      return;
    case 1:
      transport.post(receives.emplace_back(Incoming{
          .peer = 1, .tag = takeTag(), .pieces = {std::span<std::byte>(in).first(input.between(0, 300))}}));
      return;
    case 2:
      if (slots.reserve(lane)) {
        const uint32_t receiver = 1;
        slots.send(lane, takeTag(), input.between(0, kSlotBytes), {&receiver, 1});
      }
      return;
    case 3:
      if (const EagerMessage *message = slots.front(1, lane)) {
        if (!message->bytes.empty())
          sum += uint64_t(message->bytes.front()) + uint64_t(message->bytes.back());
        slots.release(1, lane);
      }
      return;
    default:
      (void)slots.hasLeft(1);
    }
  }

  Bytes input;
  std::byte *memory;
  Segment segment;
  std::array<std::byte, 300> out{}, in{};
  std::deque<Outgoing> sends;
  std::deque<Incoming> receives;
  RingTransport transport;
  RingWriter told{segment.ringControl(1, 0), segment.ringData(1, 0), kRingBytes};
  std::array<uint64_t, EagerSlots::kLanes> eager{};
  uint64_t sum = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes input(data, size);
  if (input.take<uint8_t>() % 2)
    attach(input);
  else
    Conversation(input).run();
  return 0;
}
