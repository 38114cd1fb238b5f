//===-- transport/tcp/TcpParcels.cpp - Short messages in buffers -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TcpParcels.h"

#include <cassert>

namespace cgx::tcp {

TcpParcels::TcpParcels(uint32_t ranks, std::vector<FrameWriter *> writers)
    : writers(std::move(writers)), outboxes(kLanes), inboxes(size_t(ranks) * kLanes), gone(ranks) {}

std::byte *TcpParcels::reserve(uint32_t lane) {
  Outbox &outbox = outboxes[lane];
  // The first free one, not the next: it is still in the cache.
  for (uint32_t slot = 0; slot < kSlots && outbox.reserved == kSlots; ++slot)
    if (outbox.slots[slot].left == 0)
      outbox.reserved = slot;
  if (outbox.reserved == kSlots)
    return nullptr;
  std::unique_ptr<Buffer> &buffer = outbox.slots[outbox.reserved].buffer;
  if (!buffer)
    buffer.reset(new Buffer); // not zeroed
  return buffer->bytes;
}

void TcpParcels::send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) {
  Outbox &outbox = outboxes[lane];
  assert(outbox.reserved != kSlots && bytes <= kCapacity && !receivers.empty());
  Slot &slot = outbox.slots[outbox.reserved];
  outbox.reserved = kSlots;
  slot.left = uint32_t(receivers.size());
  FrameHeader header;
  header.kind = FrameKind::Parcel;
  header.tag = tag;
  header.total = header.bytes = bytes;
  for (uint32_t receiver : receivers) {
    writers[receiver * kLanes + lane]->put(header, {std::span<const std::byte>(slot.buffer->bytes, bytes)},
                                           &slot.left);
    sent += bytes;
  }
}

bool TcpParcels::isAllTaken() const {
  for (const Outbox &outbox : outboxes)
    for (const Slot &slot : outbox.slots)
      if (slot.left != 0)
        return false;
  return true;
}

std::span<std::byte> TcpParcels::room(uint32_t peer, uint32_t lane, uint64_t bytes) {
  Inbox &box = inbox(peer, lane);
  if (box.count == kBuffers)
    return {};
  std::unique_ptr<Buffer> &buffer = box.buffers[(box.head + box.count) % kBuffers];
  if (!buffer)
    buffer.reset(new Buffer);
  return std::span(buffer->bytes).first(bytes);
}

void TcpParcels::arrived(uint32_t peer, uint32_t lane, const Tag &tag, uint64_t bytes) {
  Inbox &box = inbox(peer, lane);
  const uint32_t index = (box.head + box.count++) % kBuffers;
  box.parcels[index] = {tag, std::span<const std::byte>(box.buffers[index]->bytes, bytes)};
}

const Parcel *TcpParcels::front(uint32_t peer, uint32_t lane) {
  Inbox &box = inbox(peer, lane);
  return box.count == 0 ? nullptr : &box.parcels[box.head];
}

void TcpParcels::release(uint32_t peer, uint32_t lane) {
  Inbox &box = inbox(peer, lane);
  assert(box.count != 0);
  box.head = (box.head + 1) % kBuffers;
  --box.count;
}

} // namespace cgx::tcp
