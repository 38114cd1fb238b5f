//===-- transport/ring/Rendezvous.h - Ranks meet in a segment ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What inproc and shm have in common until all ranks of a job are there. How a
// segment is found under the job's name is theirs.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_RENDEZVOUS_H
#define CGX_RUNTIME_TRANSPORT_RING_RENDEZVOUS_H

#include "transport/Transport.h"
#include "transport/ring/Segment.h"

#include <functional>

namespace cgx {

/// Holds a rank's place in a segment; giving it up is leaving the job.
class Membership {
public:
  virtual ~Membership() = default;
  virtual Segment segment() const = 0;
  /// Whether the thread or process that joined as `rank` still exists.
  virtual bool isAlive(uint32_t rank) const = 0;
};

/// Refuses jobs that no segment can hold.
Status checkRingConfig(const TransportConfig &config);

/// Takes a rank's place in a segment that was found. The caller holds whatever lock
/// guards the job's name. `whenLast` takes that name away, before the others can see that all are there: none
/// of them would, if this rank died first.
Status takePlace(Segment segment, const TransportConfig &config, const std::function<void()> &whenLast);

/// OK, or what the transport that has the ranks already says of one that is gone. Who waits for ranks to join
/// asks now and then.
Status askJoinedBefore(const TransportConfig &config);

/// Waits until all ranks have joined. After a failure the caller gives up its place,
/// and tells the others with abandonJob.
Status awaitMembers(const Membership &membership, const TransportConfig &config, Clock::time_point deadline);

/// Ends a job that did not become complete. OK if it became complete after all. The
/// caller holds the lock of takePlace.
Status abandonJob(Segment segment, uint32_t rank, const Status &reason);

/// Waits a little for ranks that are still to come, so that they hear of a mismatch
/// too instead of waiting in vain for ranks that have gone.
void lingerForLateRanks(Segment segment);

/// Says that `rank` is gone by its own will.
void leaveSegment(Segment segment, uint32_t rank);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_RENDEZVOUS_H
