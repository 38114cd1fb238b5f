//===-- transport/tcp/ControlMessage.cpp - Control messages between ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/tcp/ControlMessage.h"

#include <cstring>

namespace cgx::tcp {

std::vector<std::byte> encode(const ControlMessage &message) {
  const std::string text = message.text.substr(0, ControlHeader::kLongestText);
  ControlHeader header;
  header.kind = uint16_t(message.kind);
  header.textBytes = uint16_t(text.size());
  header.code = uint32_t(message.code);
  std::vector<std::byte> bytes(sizeof header + text.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, text.data(), text.size());
  return bytes;
}

ControlMessage failureMessage(const Status &reason, ControlKind kind) {
  return {.kind = kind, .code = reason.getCode(), .text = reason.message()};
}

std::span<std::byte> ControlReader::incoming() { return std::span(buffer).subspan(have); }

static Result<ControlHeader> checked(std::span<const std::byte> bytes) {
  ControlHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool isKnown =
      header.kind >= uint16_t(ControlKind::Waiting) && header.kind <= uint16_t(ControlKind::PeerFailed);
  if (header.magic != ControlHeader::kMagic || !isKnown || header.textBytes > ControlHeader::kLongestText)
    return Status(CGX_INTERNAL, "expected a control message, got other bytes");
  return header;
}

Result<bool> ControlReader::received(uint64_t bytes, ControlMessage &message) {
  have += bytes;
  if (have < buffer.size())
    return false;
  Result<ControlHeader> header = checked(buffer);
  if (!header.ok())
    return header.status();
  if (buffer.size() == sizeof(ControlHeader) && header->textBytes != 0) {
    buffer.resize(sizeof(ControlHeader) + header->textBytes);
    return false;
  }
  message.kind = ControlKind(header->kind);
  // A rank that reports a failure has failed, even if the code in its message is no error.
  const bool isReason = header->code > CGX_OK && header->code <= CGX_INTERNAL;
  const bool isFailure = message.kind == ControlKind::Failed || message.kind == ControlKind::PeerFailed;
  message.code = !isFailure ? CGX_OK : isReason ? cgx_status(header->code) : CGX_INTERNAL;
  message.text.assign(reinterpret_cast<const char *>(buffer.data()) + sizeof(ControlHeader),
                      header->textBytes);
  buffer.resize(sizeof(ControlHeader));
  have = 0;
  return true;
}

} // namespace cgx::tcp
