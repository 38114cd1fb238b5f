//===-- transport/ring/RingSlots.cpp - Eager messages in shared slots -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/ring/RingSlots.h"

#include "Doorbell.h"

#include <algorithm>
#include <cassert>

namespace cgx {

RingSlots::RingSlots(Segment segment, uint32_t rank)
    : segment(segment), self(rank), ranks(segment.ranks()), outboxes(kLanes), routes(ranks * kLanes) {
  for (Outbox &outbox : outboxes)
    outbox.readers.resize(slotsPerLane(ranks));
  for (uint32_t peer = 0; peer < ranks; ++peer)
    for (uint32_t lane = 0; lane < kLanes && peer != self; ++lane) {
      route(peer, lane).out = &segment.lane(self, peer, lane);
      route(peer, lane).in = &segment.lane(peer, self, lane);
    }
}

bool RingSlots::isFree(uint32_t lane, std::vector<Reader> &readers) {
  std::erase_if(readers, [&](const Reader &reader) {
    return route(reader.peer, lane).out->released.load(std::memory_order_acquire) >= reader.eager;
  });
  return readers.empty();
}

std::byte *RingSlots::reserve(uint32_t lane) {
  Outbox &outbox = outboxes[lane];
  // The first free slot is taken, not the next one: it is still in the cache.
  for (uint32_t slot = 0; slot < outbox.readers.size() && !outbox.reserved; ++slot)
    if (isFree(lane, outbox.readers[slot]))
      outbox.reserved = slot;
  return outbox.reserved ? segment.slot(self, lane, *outbox.reserved) : nullptr;
}

void RingSlots::send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) {
  Outbox &outbox = outboxes[lane];
  assert(outbox.reserved && bytes <= kSlotBytes && !receivers.empty());
  for (uint32_t receiver : receivers) {
    Route &to = route(receiver, lane);
    EagerDescriptor &descriptor = to.out->descriptors[to.sent % kLaneMessages];
    descriptor.tag = tag;
    descriptor.slot = *outbox.reserved;
    descriptor.bytes = uint32_t(bytes);
    descriptor.number.store(++to.sent); // sequentially consistent, as doorbells require
    outbox.readers[*outbox.reserved].push_back({receiver, to.sent});
    ringDoorbell(segment.record(receiver));
    sent += bytes;
  }
  outbox.reserved.reset();
  segment.record(self).progressCount.fetch_add(1, std::memory_order_relaxed);
}

const EagerMessage *RingSlots::front(uint32_t peer, uint32_t lane) {
  Route &from = route(peer, lane);
  if (from.inFront)
    return &from.eager;
  const EagerDescriptor &descriptor = from.in->descriptors[from.taken % kLaneMessages];
  if (descriptor.number.load(std::memory_order_acquire) != from.taken + 1)
    return nullptr;
  // The fields are read once, because the peer may overwrite them meanwhile.
  uint32_t slot = descriptor.slot, bytes = descriptor.bytes;
  if (slot >= slotsPerLane(ranks) || bytes > kSlotBytes) {
    damaged = Status::error(CGX_INTERNAL, "the lane from rank ", peer, " is damaged");
    return nullptr;
  }
  from.eager = {descriptor.tag, {segment.slot(peer, lane, slot), bytes}};
  from.inFront = true;
  return &from.eager;
}

void RingSlots::release(uint32_t peer, uint32_t lane) {
  Route &from = route(peer, lane);
  assert(from.inFront);
  from.inFront = false;
  from.in->released.store(++from.taken);
  ringDoorbell(segment.record(peer));
  segment.record(self).progressCount.fetch_add(1, std::memory_order_relaxed);
}

bool RingSlots::hasLeft(uint32_t peer) const {
  return segment.record(peer).state.load() == uint32_t(RankState::Left);
}

uint64_t RingSlots::activity() const {
  uint64_t sum = 0;
  for (const Route &route : routes)
    if (route.in)
      sum += route.out->released.load() +
             (route.in->descriptors[route.taken % kLaneMessages].number.load() > route.taken) + route.taken;
  return sum;
}

} // namespace cgx
