//===-- transport/tcp/ControlChannel.cpp - The connection for control messages -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlChannel.h"

namespace cgx::tcp {

void ControlChannel::tell(const ControlMessage &message) {
  std::lock_guard lock(mutex);
  put(message);
}

void ControlChannel::sendLiveness(ControlKind kind) {
  std::lock_guard lock(mutex);
  if (toTell.empty())
    put({.kind = kind, .text = {}});
}

void ControlChannel::advance() {
  std::lock_guard lock(mutex);
  hear();
  say();
}

std::optional<ControlMessage> ControlChannel::take() {
  std::lock_guard lock(mutex);
  if (heard.empty())
    return std::nullopt;
  ControlMessage message = std::move(heard.front());
  heard.pop_front();
  return message;
}

Status ControlChannel::damage() const {
  std::lock_guard lock(mutex);
  return damaged;
}

bool ControlChannel::isToldAll() const {
  std::lock_guard lock(mutex);
  return toTell.empty();
}

bool ControlChannel::isClosed() const {
  std::lock_guard lock(mutex);
  return channel->isClosed();
}

Clock::time_point ControlChannel::lastProgress() const {
  std::lock_guard lock(mutex);
  return progressAt;
}

Clock::time_point ControlChannel::lastHeartbeat() const {
  std::lock_guard lock(mutex);
  return heartbeatAt;
}

/// It reads before it writes: nothing can be sent to a peer that has left, and after a failed write its last
/// message could not be read any more.
void ControlChannel::put(const ControlMessage &message) {
  hear();
  const std::vector<std::byte> bytes = encode(message);
  toTell.insert(toTell.end(), bytes.begin(), bytes.end());
  say();
}

void ControlChannel::say() {
  while (told < toTell.size()) {
    const Channel::Moved moved = channel->write(std::span<const std::byte>(toTell).subspan(told));
    told += moved.bytes;
    if (moved.bytes == 0)
      return;
  }
  toTell.clear();
  told = 0;
}

void ControlChannel::hear() {
  while (damaged.ok()) {
    const Channel::Moved read = channel->read(reader.incoming());
    if (read.bytes == 0)
      return;
    ControlMessage message;
    Result<bool> isWhole = reader.received(read.bytes, message);
    if (!isWhole.ok())
      damaged = isWhole.status();
    heartbeatAt = Clock::now();
    if (!isWhole.ok() || !*isWhole || message.kind == ControlKind::Heartbeat)
      continue;
    progressAt = heartbeatAt;
    if (message.kind != ControlKind::Waiting)
      heard.push_back(std::move(message));
  }
}

} // namespace cgx::tcp
