//===-- transport/EagerSlots.h - Messages in memory of the transport --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transport that has memory which ranks share, or buffers of its own, can lend it: the
// sender writes a message where the receiver reads it. Eager messages are such messages, short
// and of one order per lane and pair of ranks. One eager message may go to several ranks at
// once, and is written once.
//
// A lane stops when its eager messages are not taken: lanes are apart, so that what must always be
// taken (results) never waits behind what may have to wait (contributions).
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_EAGERSLOTS_H
#define CGX_RUNTIME_TRANSPORT_EAGERSLOTS_H

#include "transport/GroupTraffic.h"
#include "transport/Tag.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cgx {

/// Of exactBytes() over a network, where it is so fast that processors are its limit. Longer ones gain
/// nothing over 5 Gbit; on slower links an AgreedLength is shorter.
inline constexpr uint64_t kExactNetworkBytes = 48 * 1024;

/// An eager message that has come; its memory is the transport's until it is released.
struct EagerMessage {
  Tag tag;
  std::span<const std::byte> bytes;
};

class EagerSlots {
public:
  static constexpr uint32_t kLanes = 2;

  /// The part of a tag counts a collective's messages to one receiver in its lower bits. Above them is what
  /// the sender has to say.
  static constexpr uint32_t kNumberBits = 14;
  static constexpr uint32_t kNumberMask = (1u << kNumberBits) - 1;

  virtual ~EagerSlots() = default;

  /// The most bytes of an eager message.
  virtual uint64_t capacity() const = 0;

  /// Bytes of tensor that should travel in one eager message, where payloads are so short that more fit. In
  /// shared memory: so many stay in a second-level cache, with what is made of them.
  virtual uint64_t tensorBytes() const { return 128 * 1024; }

  /// The most bytes of elements as they are that should travel in one eager message. The same on all ranks.
  virtual uint64_t exactBytes() const { return capacity(); }

  /// Memory for the lane's next eager message, capacity() bytes aligned to 64, or null while all
  /// of it is on its way. The same memory until it is sent.
  virtual std::byte *reserve(uint32_t lane) = 0;

  /// Sends the first `bytes` of the reserved memory to all of `receivers`.
  virtual void send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) = 0;

  /// The oldest eager message of `peer` on this lane, or null if there is none yet.
  virtual const EagerMessage *front(uint32_t peer, uint32_t lane) = 0;

  /// Gives the front eager message's memory back to its sender.
  virtual void release(uint32_t peer, uint32_t lane) = 0;

  /// Whether all that was sent needs this rank no more: it may turn to other work then.
  virtual bool isAllTaken() const { return true; }

  /// How much the group should have on its way over a network, and in how long messages; null where memory
  /// itself is the limit.
  virtual GroupTraffic *trafficOf(std::span<const uint32_t> /*group*/) { return nullptr; }

  /// Whether `peer` has left the job: what it has not sent will not come.
  virtual bool hasLeft(uint32_t peer) const = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_EAGERSLOTS_H
