//===-- transport/ring/Doorbell.h - Sleeping until a peer rings -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A doorbell is a futex in shared memory. The rank that changed something rings; the rank that waits marks
// itself as sleeping and looks once more before it sleeps, so that no change is missed. This rests on the
// sequentially consistent order of (change, read `sleeping`) on one side and (write `sleeping`, look) on the
// other.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_DOORBELL_H
#define CGX_RUNTIME_TRANSPORT_RING_DOORBELL_H

#include "transport/ring/Segment.h"

#include <chrono>

namespace cgx {

/// Wakes the owner of `record` if it sleeps; costs one load otherwise.
void ringDoorbell(LivenessRecord &record);

/// Sleeps until rung or for `limit`; does not sleep if `nothingToDo()` is false once the owner has been
/// marked as sleeping.
template <typename Predicate>
void sleepUntilRung(LivenessRecord &record, std::chrono::microseconds limit, Predicate nothingToDo);

void futexWait(std::atomic<uint32_t> &word, uint32_t expected, std::chrono::microseconds limit);

template <typename Predicate>
void sleepUntilRung(LivenessRecord &record, std::chrono::microseconds limit, Predicate nothingToDo) {
  uint32_t rung = record.doorbell.load();
  record.sleeping.store(1);
  if (nothingToDo())
    futexWait(record.doorbell, rung, limit);
  record.sleeping.store(0);
}

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_DOORBELL_H
