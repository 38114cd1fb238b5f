//===-- transport/shm/Shm.cpp - Ranks as processes of one host ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks find each other through a shared memory object named after the user and the job. The name exists
// only until all ranks have joined (or one has given up), so that nothing is left over whatever happens
// later. If all ranks are killed before that, the object stays; the next job of that name sees that nobody
// holds a lock on it, and replaces it.
//
//===----------------------------------------------------------------------===//

#include "transport/shm/Shm.h"

#include "SegmentFile.h"
#include "transport/MostTelling.h"
#include "transport/TestDelay.h"
#include "transport/ring/RingTransport.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <thread>
#include <unistd.h>

namespace cgx {

namespace {

class ShmMembership final : public Membership {
public:
  ShmMembership(SegmentFile file, Segment shared, uint32_t rank)
      : file(std::move(file)), shared(shared), rank(rank) {}
  ~ShmMembership() override { leaveSegment(shared, rank); } // closing the file releases the lock afterwards
  ShmMembership(const ShmMembership &) = delete;
  ShmMembership &operator=(const ShmMembership &) = delete;

  Segment segment() const override { return shared; }
  bool isAlive(uint32_t other) const override { return file.isRankLocked(other); }

  SegmentFile file;

private:
  Segment shared;
  uint32_t rank;
};

/// The result of an attempt to join that was not an error.
struct Attempt {
  std::unique_ptr<ShmMembership> membership; ///< null: try again
  std::string why = {};                      ///< the reason, if known
};

} // namespace

static Result<std::string> objectName(const std::string &job) {
  bool plain = !job.empty() && job.size() <= 200 && std::all_of(job.begin(), job.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '_' || c == '-';
  });
  if (!plain)
    return Status::error(CGX_INVALID_ARGUMENT,
                         "expected a job name of 1 to 200 letters, digits, '.', '_', '-', got '", job, "'");
  return concat("/cgx-", getuid(), "-", job);
}

/// Creates a segment in a new object.
static Result<std::optional<Segment>> createSegment(SegmentFile &file, const TransportConfig &config) {
  uint64_t ringBytes = Segment::ringBytesFor(config.ringBytes);
  uint64_t bytes = Segment::totalBytes(config.ranks, ringBytes);
  if (Status status = file.allocate(bytes); !status.ok()) {
    file.unlink();
    return status;
  }
  Result<std::byte *> base = file.map(bytes);
  if (!base.ok()) {
    file.unlink();
    return base.status();
  }
  return std::optional(Segment::initialize(*base, config.ranks, ringBytes));
}

/// Maps the segment of a job that has ranks. Returns nothing if the object was of no use and therefore
/// unlinked.
static Result<std::optional<Segment>> openSegment(SegmentFile &file, const TransportConfig &config) {
  uint64_t bytes = file.size();
  if (!file.isAnyRankLocked(kSegmentMaxRanks) || bytes < sizeof(SegmentHeader)) {
    file.unlink(); // a job left it all of whose ranks were killed
    return std::optional<Segment>();
  }
  Result<std::byte *> base = file.map(bytes);
  if (!base.ok())
    return base.status();
  Result<Segment> segment = Segment::attach(*base, bytes, config.job, config.nameOf(config.rank));
  if (!segment.ok())
    return segment.status();
  return std::optional(*segment);
}

/// Returns the ranks that have joined and have died since: with one of them this job cannot become complete.
static std::string deadOf(const SegmentFile &file, Segment segment, const TransportConfig &config) {
  std::string names;
  for (uint32_t rank = 0; rank < segment.ranks(); ++rank)
    if (RankState(segment.record(rank).state.load()) != RankState::Absent && !file.isRankLocked(rank))
      names += concat(names.empty() ? "" : ", ", config.nameOf(rank));
  return names;
}

/// Attempts once to join, under the set-up lock.
static Result<Attempt> tryJoin(const std::string &name, const TransportConfig &config,
                               Clock::time_point deadline) {
  Result<SegmentFile> file = SegmentFile::open(name);
  if (!file.ok())
    return file.status();
  if (Status status = file->lockSetup(config.nameOf(config.rank), deadline); !status.ok())
    return status;
  if (!file->isLinked())
    return Attempt(); // it was unlinked while this rank waited for the lock
  testDelay("shm: with the set-up lock");
  Result<std::optional<Segment>> found =
      file->size() == 0 ? createSegment(*file, config) : openSegment(*file, config);
  if (!found.ok())
    return found.status();
  if (!*found)
    return Attempt();
  const Segment segment = **found;
  if (const std::string dead = deadOf(*file, segment, config);
      !dead.empty() && segment.failure().getCode() != CGX_MISMATCH) {
    file->unlink(); // an earlier start of this job is ending
    return Attempt{nullptr, concat("rank ", dead, " had joined before this rank, and died")};
  }
  if (config.rank < config.ranks && config.ranks == segment.ranks() && !file->lockRank(config.rank))
    return Status::error(CGX_INVALID_ARGUMENT, "rank ", config.nameOf(config.rank), " has joined job '",
                         config.job, "' already");
  if (Status status = takePlace(segment, config, [&] { file->unlink(); }); !status.ok())
    return status;
  file->unlockSetup();
  return Attempt{std::make_unique<ShmMembership>(std::move(*file), segment, config.rank)};
}

/// Ends an incomplete job, and removes its name unless late ranks should still find it.
static Status abandon(ShmMembership &membership, const TransportConfig &config, const Status &reason) {
  Segment segment = membership.segment();
  if (reason.getCode() == CGX_MISMATCH)
    lingerForLateRanks(segment);
  Status locked =
      membership.file.lockSetup(config.nameOf(config.rank), Clock::now() + std::chrono::seconds(1));
  Status status = abandonJob(segment, config.rank, reason);
  if (!status.ok())
    membership.file.unlink();
  if (locked.ok())
    membership.file.unlockSetup();
  return status;
}

Result<std::unique_ptr<Transport>> connectShm(const TransportConfig &config) {
  if (Status status = checkRingConfig(config); !status.ok())
    return status;
  Result<std::string> name = objectName(config.job);
  if (!name.ok())
    return name.status();
  Clock::time_point deadline = Clock::now() + config.timeout;
  std::unique_ptr<ShmMembership> membership;
  MostTelling reasons;
  const auto withReasons = [&](const Status &status) {
    return reasons.words().empty() ? status
                                   : Status::error(status.getCode(), status.message(), "; ", reasons.words());
  };
  for (;;) {
    Result<Attempt> attempt = tryJoin(*name, config, deadline);
    if (!attempt.ok())
      return attempt.status();
    membership = std::move(attempt->membership);
    if (membership)
      break;
    if (Status gone = askJoinedBefore(config); !gone.ok())
      return gone;
    if (!attempt->why.empty())
      reasons.hear(Telling::Answer, attempt->why);
    if (Clock::now() >= deadline)
      return withReasons(
          Status::error(CGX_TIMEOUT, "an earlier start of job '", config.job, "' does not end"));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  testDelay("shm: after joining");
  Status status = awaitRanks(*membership, config, deadline);
  if (!status.ok())
    status = abandon(*membership, config, status);
  if (!status.ok())
    return status.getCode() == CGX_TIMEOUT ? withReasons(status) : status;
  return std::unique_ptr<Transport>(std::make_unique<RingTransport>(std::move(membership), config));
}

} // namespace cgx
