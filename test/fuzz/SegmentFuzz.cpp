//===-- test/fuzz/SegmentFuzz.cpp - Shared memory that another rank wrote -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The header of a segment is anything; then a segment that was sound is overwritten while a rank talks over
// it.
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "transport/ring/RingTransport.h"

#include <cstdlib>
#include <memory>

using namespace cgx;

namespace {

constexpr uint32_t kRanks = 2;
constexpr uint64_t kRingBytes = 256;

/// Of exactly the bytes, so that a sanitizer sees an access behind them.
using Memory = std::unique_ptr<std::byte, decltype(&std::free)>;

Memory allocate(uint64_t bytes) {
  // Slots are aligned to pages from the beginning of the segment.
  auto *memory = static_cast<std::byte *>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  std::memset(memory, 0, bytes);
  return {memory, &std::free};
}

class Members final : public Membership {
public:
  explicit Members(Segment segment) : held(segment) {}
  Segment segment() const override { return held; }
  bool isAlive(uint32_t) const override { return true; }

private:
  Segment held;
};

void expectReason(const Status &status) {
  if (!status.ok() && status.message().empty())
    __builtin_trap();
}

/// A file of as many bytes as it says, or of a few others.
void attach(Bytes input) {
  SegmentHeader header{};
  header.magic = input.take<uint8_t>() % 8 ? kSegmentMagic : input.take<uint64_t>();
  header.layout = input.take<uint8_t>() % 8 ? kSegmentLayout : input.take<uint32_t>();
  header.abiVersion = input.take<uint8_t>() % 8 ? CGX_ABI_VERSION : input.take<uint32_t>();
  header.ranks = input.take<uint8_t>() % 2 ? input.take<uint8_t>() : input.take<uint32_t>();
  header.ringBytes = input.take<uint8_t>() % 2 ? uint64_t(1) << input.between(0, 12) : input.take<uint64_t>();
  header.totalBytes = input.take<uint64_t>();
  uint64_t bytes = header.ranks ? Segment::totalBytes(header.ranks, header.ringBytes) : 0;
  if (bytes < sizeof header || bytes > uint64_t(1) << 24 || input.take<uint8_t>() % 4 == 0)
    bytes = sizeof header + input.take<uint16_t>();
  Memory memory = allocate(bytes);
  std::memcpy(static_cast<void *>(memory.get()), static_cast<const void *>(&header), sizeof header);
  Result<Segment> segment = Segment::attach(memory.get(), bytes, "job", 0);
  expectReason(segment.ok() ? Status() : segment.status());
  if (!segment.ok())
    return;
  for (uint32_t rank = 0; rank < segment->ranks(); ++rank)
    (void)segment->member(rank).state.load();
  segment->fail(segment->ranks(), Status(CGX_INTERNAL, "reason"));
  expectReason(segment->failure());
}

/// A segment of the smallest rings, whose control words and bytes change between the calls of rank 0.
void converse(Bytes input) {
  const uint64_t bytes = Segment::totalBytes(kRanks, kRingBytes);
  Memory memory = allocate(bytes);
  const Segment segment = Segment::initialize(memory.get(), kRanks, kRingBytes);
  segment.member(0).state.store(uint32_t(MemberState::Joined));
  segment.member(1).state.store(uint32_t(MemberState::Joined));
  RingTransport transport(std::make_unique<Members>(segment),
                          TransportConfig{.job = "job", .rank = 0, .ranks = kRanks});
  std::vector<std::byte> out(300), in(300);
  Outgoing send{.peer = 1, .tag = {.step = 1, .collective = 2}, .pieces = {std::span<const std::byte>(out)}};
  Incoming receive{.peer = 1, .tag = {.step = 1, .collective = 2}, .pieces = {std::span<std::byte>(in)}};
  transport.post(send);
  transport.post(receive);
  // Headers, members, notes and rings lie in front of the slots.
  const auto *last = segment.ringData(1, 0) + kRingBytes;
  const uint64_t interesting = uint64_t(last - memory.get());
  for (int turn = 0; turn < 16 && !input.rest().empty(); ++turn) {
    for (uint32_t changes = input.between(0, 3); changes > 0; --changes) {
      const uint64_t at =
          sizeof(SegmentHeader) + input.take<uint32_t>() % (interesting - sizeof(SegmentHeader) - 8);
      const auto value = input.take<uint64_t>();
      std::memcpy(memory.get() + at, &value, input.between(1, 8));
    }
    bool moved = false;
    expectReason(transport.progress(moved));
    expectReason(transport.checkPeers());
    (void)transport.silence();
  }
  transport.fail(Status(CGX_INTERNAL, "done"));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes input(data, size);
  if (input.take<uint8_t>() % 2)
    attach(input);
  else
    converse(input);
  return 0;
}
