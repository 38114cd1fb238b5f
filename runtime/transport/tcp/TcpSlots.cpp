//===-- transport/tcp/TcpSlots.cpp - Eager messages over TCP ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TcpSlots.h"

#include <cassert>

namespace cgx::tcp {

TcpSlots::TcpSlots(uint32_t ranks, std::vector<FrameWriter *> writers)
    : writers(std::move(writers)), outboxes(kLanes), inboxes(size_t(ranks) * kLanes), gone(ranks) {}

std::byte *TcpSlots::reserve(uint32_t lane) {
  Outbox &outbox = outboxes[lane];
  // The first free slot is taken, not the next one: it is still in the cache.
  for (uint32_t slot = 0; slot < kSlots && outbox.reserved == kSlots; ++slot)
    if (outbox.slots[slot].left == 0)
      outbox.reserved = slot;
  if (outbox.reserved == kSlots)
    return nullptr;
  std::unique_ptr<Buffer> &buffer = outbox.slots[outbox.reserved].buffer;
  if (!buffer)
    buffer.reset(new Buffer); // not zeroed, which would take time
  return buffer->bytes;
}

void TcpSlots::send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) {
  Outbox &outbox = outboxes[lane];
  assert(outbox.reserved != kSlots && bytes <= kCapacity && !receivers.empty());
  Slot &slot = outbox.slots[outbox.reserved];
  outbox.reserved = kSlots;
  slot.left = uint32_t(receivers.size());
  FrameHeader header;
  header.kind = FrameKind::EagerMessage;
  header.tag = tag;
  header.total = header.bytes = bytes;
  for (uint32_t receiver : receivers) {
    writers[receiver * kLanes + lane]->put(header, {std::span<const std::byte>(slot.buffer->bytes, bytes)},
                                           &slot.left);
    sent += bytes;
  }
}

bool TcpSlots::isAllTaken() const {
  for (const Outbox &outbox : outboxes)
    for (const Slot &slot : outbox.slots)
      if (slot.left != 0)
        return false;
  return true;
}

std::span<std::byte> TcpSlots::space(uint32_t peer, uint32_t lane, uint64_t bytes) {
  Inbox &box = inbox(peer, lane);
  if (box.count == kBuffers)
    return {};
  std::unique_ptr<Buffer> &buffer = box.buffers[(box.head + box.count) % kBuffers];
  if (!buffer)
    buffer.reset(new Buffer);
  return std::span(buffer->bytes).first(bytes);
}

void TcpSlots::arrived(uint32_t peer, uint32_t lane, const Tag &tag, uint64_t bytes) {
  Inbox &box = inbox(peer, lane);
  const uint32_t index = (box.head + box.count++) % kBuffers;
  box.eagerSlots[index] = {tag, std::span<const std::byte>(box.buffers[index]->bytes, bytes)};
}

const EagerMessage *TcpSlots::front(uint32_t peer, uint32_t lane) {
  Inbox &box = inbox(peer, lane);
  return box.count == 0 ? nullptr : &box.eagerSlots[box.head];
}

void TcpSlots::release(uint32_t peer, uint32_t lane) {
  Inbox &box = inbox(peer, lane);
  assert(box.count != 0);
  box.head = (box.head + 1) % kBuffers;
  --box.count;
}

} // namespace cgx::tcp
