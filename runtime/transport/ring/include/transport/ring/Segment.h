//===-- transport/ring/Segment.h - Memory that ranks share -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of the memory over which the ranks of one host talk, whether it is
// heap memory of one process (inproc) or a shared memory segment (shm):
//
//   SegmentHeader | Member x ranks | FailureNote x (ranks + 1) | rings | lanes | slots
//
// There is one ring for each ordered pair of ranks: a RingControl, then
// `ring_bytes` of data. Eager messages travel by lanes, of which each ordered pair has
// two, through slots of the sender, from which all receivers read. Everything in it
// is free of pointers, and zero bytes are the valid initial state of all but the header.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_SEGMENT_H
#define CGX_RUNTIME_TRANSPORT_RING_SEGMENT_H

#include "status/Status.h"
#include "transport/EagerSlots.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cgx {

inline constexpr uint64_t kSegmentMagic = 0x544e454d47455347; // "GSEGMENT"
/// Changes with every change of this file's structures.
inline constexpr uint32_t kSegmentLayout = 5;
/// Rings grow with the square of the ranks; more belong on several hosts.
inline constexpr uint32_t kSegmentMaxRanks = 256;
inline constexpr uint64_t kDefaultRingBytes = 256 * 1024;
/// A ring holds at least one message header.
inline constexpr uint64_t kMinRingBytes = 64;

/// Bytes of a slot: what a second-level cache holds several of.
inline constexpr uint64_t kSlotBytes = 128 * 1024;
/// Slots grow with the square of the ranks: beyond this, where they take 28 MiB, there are
/// none. Containers have 64 MiB of shared memory by default.
inline constexpr uint32_t kMostRanksWithSlots = 8;
/// Slots of a rank on one lane. At least one for each other rank, or contributions could
/// wait for each other in a circle; some more, to be ahead.
inline constexpr uint32_t slotsPerLane(uint32_t ranks) {
  return ranks > kMostRanksWithSlots || ranks < 2 ? 0 : ranks <= 5 ? 8 : 2 * (ranks - 1);
}
/// No lane has more eager messages than this on their way, as each is in a slot.
inline constexpr uint32_t kLaneMessages = 32;
static_assert(slotsPerLane(kMostRanksWithSlots) <= kLaneMessages);

/// Fixed for all versions, so that ranks of different builds can tell each other apart.
struct SegmentHeader {
  uint64_t magic;
  uint32_t layout;
  uint32_t abiVersion;
  uint32_t ranks;
  uint32_t reserved;
  uint64_t ringBytes;
  uint64_t totalBytes;
  /// ABI version + 1 of a rank that came with another layout and went away.
  std::atomic<uint32_t> intruderAbi;
  /// Ranks that have joined so far; never decreases.
  std::atomic<uint32_t> joined;
  /// 0, or 1 + the index of the failure note that tells why the job is over.
  std::atomic<uint32_t> failed;
};
static_assert(sizeof(SegmentHeader) <= 64 && std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

/// One that is joining may not be among those that the header counts: it may stop or die before.
enum class MemberState : uint32_t { Absent = 0, Joined = 1, Left = 2, Joining = 3 };

/// What a rank shows to the others.
struct alignas(64) Member {
  std::atomic<uint32_t> state;
  /// Counts turns of this rank's waiting loop: a rank that waits is not silent.
  std::atomic<uint32_t> heartbeat;
  /// Counts as long as this rank's process runs, whatever it does; Pulse.h.
  std::atomic<uint32_t> pulse;
  /// Futex word and whether its owner sleeps on it; on a line of their own
  /// because every peer reads them after each transfer.
  alignas(64) std::atomic<uint32_t> doorbell;
  std::atomic<uint32_t> sleeping;
};

struct alignas(64) FailureNote {
  uint32_t code;
  char text[1020];
};

/// Positions count bytes since creation; tail - head is what the ring holds.
struct alignas(64) RingControl {
  std::atomic<uint64_t> tail;             ///< written by the sender
  alignas(64) std::atomic<uint64_t> head; ///< written by the receiver
};

/// An eager message on its way. The receiver waits for `number`, and finds all else in the same
/// cache line.
struct alignas(64) EagerNote {
  std::atomic<uint64_t> number; ///< 1 + the eager messages sent on this lane before; written last
  Tag tag;
  uint32_t slot;
  uint32_t bytes;
};

/// One lane of an ordered pair of ranks.
struct alignas(64) Lane {
  std::atomic<uint64_t> released; ///< eager messages that the receiver has given back
  EagerNote notes[kLaneMessages];
};

/// Finds the parts of a segment; does not own it.
class Segment {
public:
  Segment() = default;
  /// Of a segment that has been checked to have these numbers. They are kept here: what stands in shared
  /// memory may be overwritten by whatever went wrong in another rank.
  Segment(std::byte *base, uint32_t ranks, uint64_t ringBytes)
      : base(base), rankCount(ranks), bytesOfRing(ringBytes) {}

  /// Rounds a wish to what rings can be: a power of two, or 0 if it is absurd.
  static uint64_t ringBytesFor(uint64_t wish);
  /// 0 if the size overflows.
  static uint64_t totalBytes(uint32_t ranks, uint64_t ringBytes);
  /// Writes the header of a segment that is all zero.
  static Segment initialize(std::byte *base, uint32_t ranks, uint64_t ringBytes);

  /// The segment that others have made in `bytes` bytes of memory, at least those of a header. Whatever
  /// stands there is read once, and checked against each other and against `bytes`. `job` and `rank` are for
  /// messages.
  static Result<Segment> attach(std::byte *base, uint64_t bytes, const std::string &job, uint32_t rank);

  uint32_t ranks() const { return rankCount; }
  uint64_t ringBytes() const { return bytesOfRing; }

  SegmentHeader &header() const { return *reinterpret_cast<SegmentHeader *>(base); }
  Member &member(uint32_t rank) const;
  FailureNote &note(uint32_t index) const;
  RingControl &ringControl(uint32_t from, uint32_t to) const;
  std::byte *ringData(uint32_t from, uint32_t to) const;
  Lane &lane(uint32_t from, uint32_t to, uint32_t lane) const;
  std::byte *slot(uint32_t owner, uint32_t lane, uint32_t index) const;

  /// Makes `reason`, from the rank (or, with index == ranks, from a rank that was
  /// turned away), the job's failure, unless it has one.
  void fail(uint32_t index, const Status &reason) const;
  /// OK, or the job's failure as told by another rank, which the message calls by `names`; by number if
  /// empty.
  Status failure(std::span<const uint32_t> names = {}) const;

private:
  std::byte *ring(uint32_t from, uint32_t to) const;
  uint64_t lanesBegin() const;
  uint64_t slotsBegin() const;

  std::byte *base = nullptr;
  uint32_t rankCount = 0;
  uint64_t bytesOfRing = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_SEGMENT_H
