//===-- transport/tcp/ControlMessage.h - Control messages between ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Control messages are what ranks send each other besides data: that a rank waits, leaves, or has failed,
// that its process runs, and the answers during the rendezvous.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_CONTROLMESSAGE_H
#define CGX_RUNTIME_TRANSPORT_TCP_CONTROLMESSAGE_H

#include "status/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cgx::tcp {

enum class ControlKind : uint16_t {
  Waiting = 1, ///< the rank waits for others
  Leaving = 2,
  Failed = 3,
  Admitted = 4,
  Ready = 5,
  Heartbeat = 6,  ///< the rank's process runs, whatever the rank does
  PeerFailed = 7, ///< another rank has failed; the text names it
};

struct ControlMessage {
  ControlKind kind = ControlKind::Waiting;
  cgx_status code = CGX_OK; ///< the error of Failed and PeerFailed, never CGX_OK
  std::string text;
};

/// The header of a control message; the text follows.
struct ControlHeader {
  static constexpr uint32_t kMagic = 0x4e584743; // "CGXN"
  static constexpr uint32_t kLongestText = 2048;

  uint32_t magic = kMagic;
  uint16_t kind = 0;
  uint16_t textBytes = 0;
  uint32_t code = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(ControlHeader) == 16);

/// Returns the bytes of a message. Text that is too long is cut off.
std::vector<std::byte> encode(const ControlMessage &message);
/// Returns the message that this rank has failed, by itself or because it was told of another's failure.
ControlMessage failureMessage(const Status &reason, ControlKind kind = ControlKind::Failed);

/// Assembles control messages from bytes that arrive in any portions.
class ControlReader {
public:
  /// Returns the memory for the next bytes; never empty.
  std::span<std::byte> incoming();
  /// Records that bytes have arrived. Returns true when `message` is a complete message.
  Result<bool> received(uint64_t bytes, ControlMessage &message);

private:
  std::vector<std::byte> buffer = std::vector<std::byte>(sizeof(ControlHeader));
  uint64_t have = 0;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_CONTROLMESSAGE_H
