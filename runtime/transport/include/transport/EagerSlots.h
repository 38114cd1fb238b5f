//===-- transport/EagerSlots.h - Messages in memory of the transport -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transport with memory that ranks share, or with buffers of its own, can offer slots in it: the sender
// writes a message where the receiver reads it. Such eager messages are short, and ordered per lane and pair
// of ranks. One eager message may go to several ranks, and is written once.
//
// A lane stops when the receiver does not take its eager messages. Lanes are independent, so that messages
// that must always be taken (results) never wait after messages that may have to wait (contributions).
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

/// The uncompressedBytes() of a network so fast that processors are its limit. Longer messages gain nothing
/// over 5 Gbit; on slower links an AgreedLength is shorter.
inline constexpr uint64_t kUncompressedNetworkBytes = 48 * 1024;

/// An eager message that has arrived. Its memory belongs to the transport until it is released.
struct EagerMessage {
  Tag tag;
  std::span<const std::byte> bytes;
};

class EagerSlots {
public:
  static constexpr uint32_t kLanes = 2;

  /// The lower bits of a tag's part number a collective's messages to one receiver. The sender's preferred
  /// length stands above them.
  static constexpr uint32_t kNumberBits = 14;
  static constexpr uint32_t kNumberMask = (1u << kNumberBits) - 1;

  virtual ~EagerSlots() = default;

  /// Returns the most bytes of an eager message.
  virtual uint64_t capacity() const = 0;

  /// Returns how many bytes of a tensor should travel in one eager message, where payloads are so short that
  /// more would fit. In shared memory that many bytes, and their results, stay in a second-level cache.
  virtual uint64_t tensorBytes() const { return 128 * 1024; }

  /// Returns the most bytes of uncompressed elements that should travel in one eager message. All ranks
  /// return the same.
  virtual uint64_t uncompressedBytes() const { return capacity(); }

  /// Returns memory for the lane's next eager message, capacity() bytes aligned to 64, or null while all
  /// slots are being sent. Returns the same memory until it is sent.
  virtual std::byte *reserve(uint32_t lane) = 0;

  /// Sends the first `bytes` of the reserved memory to all of `receivers`.
  virtual void send(uint32_t lane, const Tag &tag, uint64_t bytes, std::span<const uint32_t> receivers) = 0;

  /// Returns the oldest eager message of `peer` on this lane, or null if there is none yet.
  virtual const EagerMessage *front(uint32_t peer, uint32_t lane) = 0;

  /// Returns the memory of the front eager message to its sender.
  virtual void release(uint32_t peer, uint32_t lane) = 0;

  /// Returns true if nothing that was sent still needs calls by this rank, which may then do other work.
  virtual bool isAllTaken() const { return true; }

  /// Returns the state of congestion control of the group (window and message length); null where memory
  /// itself is the limit.
  virtual GroupTraffic *trafficOf(std::span<const uint32_t> /*group*/) { return nullptr; }

  /// Returns true if `peer` has left the job: messages that it has not sent will not arrive.
  virtual bool hasLeft(uint32_t peer) const = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_EAGERSLOTS_H
