//===-- transport/ring/Segment.h - Memory that ranks share -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of the memory through which the ranks of one host communicate, in heap memory of one process
// (inproc) or in a shared memory segment (shm):
//
//   SegmentHeader | LivenessRecord x ranks | FailureRecord x (ranks + 1) | rings | lanes | slots
//
// There is one ring for each ordered pair of ranks: a RingControl, then `ring_bytes` of data. Each ordered
// pair also has two lanes for eager messages, which pass through slots of the sender, from which all
// receivers read. The segment contains no pointers, and zero bytes are the valid initial state of all but the
// header.
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
/// The version of the layout: it changes with every change of this file's structures.
inline constexpr uint32_t kSegmentLayout = 5;
/// The most ranks of a segment. Rings grow with the square of the ranks; more ranks belong on several hosts.
inline constexpr uint32_t kSegmentMaxRanks = 256;
inline constexpr uint64_t kDefaultRingBytes = 256 * 1024;
/// The smallest ring holds one message header.
inline constexpr uint64_t kMinRingBytes = 64;

/// The bytes of a slot; a second-level cache holds several.
inline constexpr uint64_t kSlotBytes = 128 * 1024;
/// The most ranks that have slots. They grow with the square of the ranks and take 28 MiB here; containers
/// have 64 MiB of shared memory by default.
inline constexpr uint32_t kMostRanksWithSlots = 8;
/// Returns the number of slots of a rank on one lane: at least one for each other rank, since contributions
/// could otherwise wait for each other in a circle, and some more, to be ahead.
inline constexpr uint32_t slotsPerLane(uint32_t ranks) {
  return ranks > kMostRanksWithSlots || ranks < 2 ? 0 : ranks <= 5 ? 8 : 2 * (ranks - 1);
}
/// The most eager messages in flight on a lane, as each is in a slot.
inline constexpr uint32_t kLaneMessages = 32;
static_assert(slotsPerLane(kMostRanksWithSlots) <= kLaneMessages);

/// The header is the same in all versions, so that ranks of different builds can tell each other apart.
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
  /// The number of ranks that have joined so far; it never decreases.
  std::atomic<uint32_t> joined;
  /// 0, or 1 + the index of the failure record that tells why the job is over.
  std::atomic<uint32_t> failed;
};
static_assert(sizeof(SegmentHeader) <= 64 && std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

/// The state of a rank. One that is joining may not be among those that the header counts: it may stop or die
/// before.
enum class RankState : uint32_t { Absent = 0, Joined = 1, Left = 2, Joining = 3 };

/// The liveness record that a rank shows to the others.
struct alignas(64) LivenessRecord {
  std::atomic<uint32_t> state;
  /// Counts turns of this rank's waiting loop: a rank that waits is making progress.
  std::atomic<uint32_t> progressCount;
  /// Counts the heartbeats of this rank's process, whatever the rank does; see Heartbeat.h.
  std::atomic<uint32_t> heartbeat;
  /// Futex word, and a flag that its owner sleeps on it. They have a cache line of their own because every
  /// peer reads them after each transfer.
  alignas(64) std::atomic<uint32_t> doorbell;
  std::atomic<uint32_t> sleeping;
};

struct alignas(64) FailureRecord {
  uint32_t code;
  char text[1020];
};

/// The positions of a ring count bytes since creation; tail - head is the number of bytes in it.
struct alignas(64) RingControl {
  std::atomic<uint64_t> tail;             ///< written by the sender
  alignas(64) std::atomic<uint64_t> head; ///< written by the receiver
};

/// The descriptor of an eager message in flight. The receiver waits for `number`, and finds the rest in the
/// same cache line.
struct alignas(64) EagerDescriptor {
  std::atomic<uint64_t> number; ///< 1 + the eager messages sent on this lane before; written last
  Tag tag;
  uint32_t slot;
  uint32_t bytes;
};

/// One lane of an ordered pair of ranks.
struct alignas(64) Lane {
  std::atomic<uint64_t> released; ///< eager messages that the receiver has released
  EagerDescriptor descriptors[kLaneMessages];
};

/// A view of the parts of a segment, which it does not own.
class Segment {
public:
  Segment() = default;
  /// Views a segment that has been checked to have these numbers. They are copied here, because a fault in
  /// another rank may overwrite shared memory.
  Segment(std::byte *base, uint32_t ranks, uint64_t ringBytes)
      : base(base), rankCount(ranks), bytesOfRing(ringBytes) {}

  /// Rounds a requested size to a possible one, a power of two; returns 0 if it is absurd.
  static uint64_t ringBytesFor(uint64_t wish);
  /// Returns 0 if the size overflows.
  static uint64_t totalBytes(uint32_t ranks, uint64_t ringBytes);
  /// Writes the header of a segment that is all zero.
  static Segment initialize(std::byte *base, uint32_t ranks, uint64_t ringBytes);

  /// Views the segment that others have created in `bytes` bytes of memory, at least those of a header. The
  /// header is read once, and checked for consistency and against `bytes`. `job` and `rank` are for error
  /// messages.
  static Result<Segment> attach(std::byte *base, uint64_t bytes, const std::string &job, uint32_t rank);

  uint32_t ranks() const { return rankCount; }
  uint64_t ringBytes() const { return bytesOfRing; }

  SegmentHeader &header() const { return *reinterpret_cast<SegmentHeader *>(base); }
  LivenessRecord &record(uint32_t rank) const;
  FailureRecord &failureRecord(uint32_t index) const;
  RingControl &ringControl(uint32_t from, uint32_t to) const;
  std::byte *ringData(uint32_t from, uint32_t to) const;
  Lane &lane(uint32_t from, uint32_t to, uint32_t lane) const;
  std::byte *slot(uint32_t owner, uint32_t lane, uint32_t index) const;

  /// Records `reason` as the job's failure, unless it has one. `index` is the rank that reports it; `ranks`
  /// is that of a rank that was turned away.
  void fail(uint32_t index, const Status &reason) const;
  /// Returns OK, or the job's failure as reported by another rank, which the message calls by `names`; by
  /// number if empty.
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
