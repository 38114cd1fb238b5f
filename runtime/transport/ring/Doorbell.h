//===-- transport/ring/Doorbell.h - Sleep until a peer rings -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A futex in shared memory. The one who changed something rings; whoever waits
// looks once more between lying down and sleeping, so no change is missed. This
// rests on the sequentially consistent order of (change, read `sleeping`) on one
// side and (write `sleeping`, look) on the other.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_DOORBELL_H
#define CGX_RUNTIME_TRANSPORT_RING_DOORBELL_H

#include "transport/ring/Segment.h"

#include <chrono>

namespace cgx {

/// Wakes the owner of `member` if it sleeps. Costs one load otherwise.
void ringDoorbell(Member &member);

/// Sleeps until rung or `limit` has passed; not at all if `nothingToDo()` is
/// false once the owner has been marked as sleeping.
template <typename Predicate>
void sleepUntilRung(Member &member, std::chrono::microseconds limit, Predicate nothingToDo);

void futexWait(std::atomic<uint32_t> &word, uint32_t expected, std::chrono::microseconds limit);

template <typename Predicate>
void sleepUntilRung(Member &member, std::chrono::microseconds limit, Predicate nothingToDo) {
  uint32_t rung = member.doorbell.load();
  member.sleeping.store(1);
  if (nothingToDo())
    futexWait(member.doorbell, rung, limit);
  member.sleeping.store(0);
}

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_DOORBELL_H
