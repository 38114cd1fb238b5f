//===-- transport/ring/Rendezvous.h - Joining a job through a segment -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of joining that inproc and shm share, until all ranks of a job have joined. Each finds a segment
// under the job's name in its own way.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_RENDEZVOUS_H
#define CGX_RUNTIME_TRANSPORT_RING_RENDEZVOUS_H

#include "transport/Transport.h"
#include "transport/ring/Segment.h"

#include <functional>

namespace cgx {

/// A rank's place in a segment. Destroying it leaves the job.
class Membership {
public:
  virtual ~Membership() = default;
  virtual Segment segment() const = 0;
  /// Returns true if the thread or process that joined as `rank` still exists.
  virtual bool isAlive(uint32_t rank) const = 0;
};

/// Rejects jobs that no segment can hold.
Status checkRingConfig(const TransportConfig &config);

/// Takes a rank's place in a segment that was found. The caller holds the lock that guards the job's name.
/// `whenLast` removes that name before the others can see that all ranks have joined: if this rank died
/// first, none of them would remove it.
Status takePlace(Segment segment, const TransportConfig &config, const std::function<void()> &whenLast);

/// Returns OK, or the error that `joinedBefore` already reports of a rank that is gone. A rank that waits for
/// others to join asks now and then.
Status askJoinedBefore(const TransportConfig &config);

/// Waits until all ranks have joined. After a failure the caller gives up its place, and tells the others
/// with abandonJob.
Status awaitRanks(const Membership &membership, const TransportConfig &config, Clock::time_point deadline);

/// Ends an incomplete job. Returns OK if it became complete after all. The caller holds the lock of
/// takePlace.
Status abandonJob(Segment segment, uint32_t rank, const Status &reason);

/// Waits a little for ranks that are still to come, so that they learn of a mismatch too instead of waiting
/// for ranks that have gone.
void lingerForLateRanks(Segment segment);

/// Records that `rank` has left by its own will.
void leaveSegment(Segment segment, uint32_t rank);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_RENDEZVOUS_H
