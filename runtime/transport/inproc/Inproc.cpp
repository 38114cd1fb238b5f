//===-- transport/inproc/Inproc.cpp - Ranks as threads -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks that are threads of one process share a segment in heap memory. They have only the name of their job
// in common, so the segment must be found in something that the whole process shares: the registry below is
// the runtime's only global state. It holds a job from its first rank's arrival to its last rank's.
//
//===----------------------------------------------------------------------===//

#include "transport/inproc/Inproc.h"

#include "transport/TestDelay.h"
#include "transport/ring/RingTransport.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace cgx {

namespace {

struct FreeSegment {
  void operator()(std::byte *base) const { ::operator delete(base, std::align_val_t(64)); }
};
struct SegmentMemory {
  std::shared_ptr<std::byte> bytes;
  Segment segment;

  bool operator==(const SegmentMemory &other) const { return bytes == other.bytes; }
};

/// Jobs whose ranks have not all joined yet.
struct Registry {
  std::mutex mutex;
  std::map<std::string, SegmentMemory> jobs;
};

Registry &registry() {
  static Registry instance;
  return instance;
}

class InprocMembership final : public Membership {
public:
  InprocMembership(SegmentMemory memory, uint32_t rank) : memory(std::move(memory)), rank(rank) {}
  ~InprocMembership() override { leaveSegment(segment(), rank); }
  InprocMembership(const InprocMembership &) = delete;
  InprocMembership &operator=(const InprocMembership &) = delete;

  Segment segment() const override { return memory.segment; }
  /// Returns true always: a thread cannot die alone without the process noticing.
  bool isAlive(uint32_t) const override { return true; }

private:
  SegmentMemory memory;
  uint32_t rank;
};

} // namespace

static Result<SegmentMemory> allocate(const TransportConfig &config) {
  uint64_t ringBytes = Segment::ringBytesFor(config.ringBytes);
  uint64_t bytes = ringBytes == 0 ? 0 : Segment::totalBytes(config.ranks, ringBytes);
  void *raw = bytes == 0 ? nullptr : ::operator new(bytes, std::align_val_t(64), std::nothrow);
  if (!raw)
    return Status::error(CGX_RESOURCE_EXHAUSTED, "cannot allocate ", bytes, " bytes for the rings of ",
                         config.ranks, " ranks");
  std::memset(raw, 0, bytes);
  std::shared_ptr<std::byte> memory(static_cast<std::byte *>(raw), FreeSegment());
  return SegmentMemory{memory, Segment::initialize(memory.get(), config.ranks, ringBytes)};
}

/// Finds or creates the job's segment and takes the rank's place in it.
static Result<SegmentMemory> join(const TransportConfig &config) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().jobs.find(config.job);
  if (found == registry().jobs.end()) {
    Result<SegmentMemory> made = allocate(config);
    if (!made.ok())
      return made.status();
    found = registry().jobs.emplace(config.job, *made).first;
  }
  SegmentMemory memory = found->second;
  if (Status status = takePlace(memory.segment, config, [&] { registry().jobs.erase(found); }); !status.ok())
    return status;
  return memory;
}

/// Ends an incomplete job, and removes it from the registry unless late ranks should still find it.
static Status abandon(const SegmentMemory &memory, const TransportConfig &config, const Status &reason) {
  if (reason.getCode() == CGX_MISMATCH)
    lingerForLateRanks(memory.segment);
  std::lock_guard lock(registry().mutex);
  Status status = abandonJob(memory.segment, config.rank, reason);
  if (auto found = registry().jobs.find(config.job);
      found != registry().jobs.end() && found->second == memory)
    registry().jobs.erase(found);
  return status;
}

Result<std::unique_ptr<Transport>> connectInproc(const TransportConfig &config) {
  if (Status status = checkRingConfig(config); !status.ok())
    return status;
  Clock::time_point deadline = Clock::now() + config.timeout;
  testDelay("inproc: before joining");
  Result<SegmentMemory> memory = join(config);
  if (!memory.ok())
    return memory.status();
  auto membership = std::make_unique<InprocMembership>(*memory, config.rank);
  Status status = awaitRanks(*membership, config, deadline);
  if (!status.ok())
    status = abandon(*memory, config, status);
  if (!status.ok())
    return status;
  return std::unique_ptr<Transport>(std::make_unique<RingTransport>(std::move(membership), config));
}

} // namespace cgx
