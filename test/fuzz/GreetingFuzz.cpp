//===-- test/fuzz/GreetingFuzz.cpp - Hostile input over TCP -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A stranger that finds the port of a job may send anything: hellos and proofs, in parts of any size. It is
// never admitted without the key. The target then reads arbitrary liveness records, and rendezvous addresses
// from a file or a store.
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "transport/tcp/ControlMessage.h"
#include "transport/tcp/Handshake.h"
#include "transport/tcp/RendezvousAddress.h"

#include <algorithm>
#include <cstring>

using namespace cgx;
using namespace cgx::tcp;

namespace {

void expectReason(const Status &status) {
  if (!status.ok() && status.message().empty())
    __builtin_trap();
}

/// Fills some of the bytes that are to be read next from the input.
uint64_t fill(Bytes &input, std::span<std::byte> room) {
  const size_t count = std::min<size_t>(room.size(), 1 + input.take<uint8_t>());
  for (std::byte &byte : room.first(count))
    byte = std::byte(input.take<uint8_t>());
  return count;
}

void greet(Bytes &input) {
  const auto role = input.take<uint8_t>() % 2 ? Handshake::Role::Client : Handshake::Role::Server;
  Hello own;
  own.rank = 1;
  own.ranks = 3;
  Handshake handshake(role, own, hashOf("a key that the input does not know"));
  if (input.take<uint8_t>() % 2) { // a valid hello, so that the code after it is reached
    Hello other = own;
    other.isComplete = input.take<uint8_t>();
    other.rank = input.take<uint32_t>();
    std::memcpy(handshake.incoming().data(), &other, sizeof other);
    Status status = handshake.received(sizeof other);
    expectReason(status);
  }
  while (!input.rest().empty() && !handshake.incoming().empty()) {
    handshake.sent(handshake.outgoing().size());
    Status status = handshake.received(fill(input, handshake.incoming()));
    expectReason(status);
    if (!status.ok())
      return;
  }
  if (handshake.isOver())
    __builtin_trap();
}

void readControlMessages(Bytes &input) {
  ControlReader reader;
  ControlMessage message;
  while (!input.rest().empty()) {
    const std::span<std::byte> room = reader.incoming();
    uint64_t bytes = 0;
    if (ControlHeader header; input.take<uint8_t>() % 2 && room.size() == sizeof header) {
      header.kind = input.take<uint8_t>();
      header.textBytes = input.take<uint16_t>();
      header.code = input.take<uint32_t>();
      std::memcpy(room.data(), &header, sizeof header);
      bytes = sizeof header;
    } else {
      bytes = fill(input, room);
    }
    Result<bool> isWhole = reader.received(bytes, message);
    expectReason(isWhole.status());
    if (!isWhole.ok())
      return;
    if (*isWhole && (message.text.size() > ControlHeader::kLongestText ||
                     (message.kind == ControlKind::Failed || message.kind == ControlKind::PeerFailed) !=
                         (message.code != CGX_OK)))
      __builtin_trap();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes input(data, size);
  switch (input.take<uint8_t>() % 3) {
  case 0:
    greet(input);
    break;
  case 1:
    readControlMessages(input);
    break;
  default: {
    std::string text = input.take<uint8_t>() % 2 ? "cgx-tcp 1\n" : "";
    while (!input.rest().empty())
      text += char(input.take<uint8_t>());
    Result<Announcement> read = decodeAnnouncement(text);
    expectReason(read.status());
    if (read.ok() && encode(*read) != text)
      __builtin_trap();
  }
  }
  return 0;
}
