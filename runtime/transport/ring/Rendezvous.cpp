//===-- transport/ring/Rendezvous.cpp - Joining a job through a segment -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/ring/Rendezvous.h"

#include "Doorbell.h"
#include "transport/TestDelay.h"

namespace cgx {

static constexpr std::chrono::milliseconds kLinger{500};

static RankState stateOf(Segment segment, uint32_t rank) {
  return RankState(segment.record(rank).state.load());
}

/// Returns true if the rank has come and has not left.
static bool isThere(RankState state) { return state == RankState::Joining || state == RankState::Joined; }

/// Returns the names of the ranks whose state is one of two.
static std::string ranksInState(Segment segment, RankState state, RankState other,
                                const TransportConfig &config) {
  std::string names;
  for (uint32_t rank = 0; rank < segment.ranks(); ++rank)
    if (const RankState its = stateOf(segment, rank); its == state || its == other)
      names += concat(names.empty() ? "" : ", ", config.nameOf(rank));
  return names;
}

Status checkRingConfig(const TransportConfig &config) {
  if (config.ranks > kSegmentMaxRanks)
    return Status::error(CGX_INVALID_ARGUMENT, "expected at most ", kSegmentMaxRanks,
                         " ranks on one host, got ", config.ranks);
  uint64_t ringBytes = Segment::ringBytesFor(config.ringBytes);
  if (ringBytes == 0 || Segment::totalBytes(config.ranks, ringBytes) == 0)
    return Status::error(CGX_INVALID_ARGUMENT, "expected a ring size that ", config.ranks,
                         " ranks can have, got ", config.ringBytes, " bytes");
  return Status();
}

Status takePlace(Segment segment, const TransportConfig &config, const std::function<void()> &whenLast) {
  SegmentHeader &header = segment.header();
  if (segment.ranks() != config.ranks) {
    Status status = Status::error(CGX_MISMATCH, "ranks of job '", config.job,
                                  "' differ in the number of ranks: ", segment.ranks(), " on rank ",
                                  ranksInState(segment, RankState::Joined, RankState::Joining, config), ", ",
                                  config.ranks, " on rank ", config.nameOf(config.rank));
    segment.fail(segment.ranks(), status);
    return status;
  }
  LivenessRecord &record = segment.record(config.rank);
  if (stateOf(segment, config.rank) != RankState::Absent)
    return Status::error(CGX_INVALID_ARGUMENT, "rank ", config.nameOf(config.rank), " has joined job '",
                         config.job, "' already");
  record.state.store(uint32_t(RankState::Joining));
  if (header.joined.load() + 1 == segment.ranks())
    whenLast();
  testDelay("ring: before a rank counts as joined");
  header.joined.fetch_add(1);
  testDelay("ring: before a rank has joined");
  record.state.store(uint32_t(RankState::Joined));
  return Status();
}

Status askJoinedBefore(const TransportConfig &config) {
  if (!config.joinedBefore)
    return Status();
  bool moved = false;
  const Status gone = config.joinedBefore->checkPeers();
  // A message that a rank sent before it left explains more than its absence does.
  Status told = config.joinedBefore->progress(moved);
  return told.ok() ? gone : told;
}

Status awaitRanks(const Membership &membership, const TransportConfig &config, Clock::time_point deadline) {
  Segment segment = membership.segment();
  SegmentHeader &header = segment.header();
  for (uint32_t joined; (joined = header.joined.load()) < segment.ranks();) {
    // Others may have joined, run, and failed since the count was read: then this rank has joined as well.
    Status failure = segment.failure(config.names);
    if (failure.ok())
      failure = askJoinedBefore(config);
    if (!failure.ok())
      return header.joined.load() < segment.ranks() ? failure : Status();
    if (uint32_t intruder = header.intruderAbi.load(); intruder != 0)
      return Status::error(CGX_MISMATCH, "ranks of job '", config.job, "' run different builds: ABI version ",
                           CGX_ABI_VERSION, " on rank ", config.nameOf(config.rank), ", ", intruder - 1,
                           " on a rank that was turned away");
    for (uint32_t rank = 0; rank < segment.ranks(); ++rank)
      if (rank != config.rank && isThere(stateOf(segment, rank)) && !membership.isAlive(rank) &&
          isThere(stateOf(segment, rank)))
        return Status::error(CGX_PEER_DIED, "rank ", config.nameOf(rank), " died before job '", config.job,
                             "' was complete");
    if (Clock::now() >= deadline)
      return Status::error(CGX_TIMEOUT, "job '", config.job, "' is not complete after ",
                           config.timeout.count(), " ms: rank ",
                           ranksInState(segment, RankState::Absent, RankState::Joining, config),
                           " did not join: if it was started, its own output says why it is not here");
    futexWait(header.joined, joined, std::chrono::milliseconds(1));
  }
  return Status(); // the transport notices all later errors
}

Status abandonJob(Segment segment, uint32_t rank, const Status &reason) {
  testDelay("ring: before a job is given up");
  if (segment.header().joined.load() == segment.ranks() && segment.failure().ok())
    return Status();
  segment.fail(rank, reason);
  return reason;
}

void lingerForLateRanks(Segment segment) {
  SegmentHeader &header = segment.header();
  Clock::time_point end = Clock::now() + kLinger;
  for (uint32_t joined; (joined = header.joined.load()) < segment.ranks() && Clock::now() < end;)
    futexWait(header.joined, joined, std::chrono::milliseconds(1));
}

void leaveSegment(Segment segment, uint32_t rank) {
  testDelay("ring: before leaving");
  segment.record(rank).state.store(uint32_t(RankState::Left));
  testDelay("ring: before others hear of it");
  for (uint32_t peer = 0; peer < segment.ranks(); ++peer)
    if (peer != rank)
      ringDoorbell(segment.record(peer));
}

} // namespace cgx
