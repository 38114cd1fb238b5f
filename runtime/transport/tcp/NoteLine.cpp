//===-- transport/tcp/NoteLine.cpp - What two ranks say beside data -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NoteLine.h"

namespace cgx::tcp {

void NoteLine::tell(const Note &note) {
  std::lock_guard lock(mutex);
  put(note);
}

void NoteLine::showLife(NoteKind kind) {
  std::lock_guard lock(mutex);
  if (toTell.empty())
    put({.kind = kind, .text = {}});
}

void NoteLine::advance() {
  std::lock_guard lock(mutex);
  hear();
  say();
}

std::optional<Note> NoteLine::take() {
  std::lock_guard lock(mutex);
  if (heard.empty())
    return std::nullopt;
  Note note = std::move(heard.front());
  heard.pop_front();
  return note;
}

Status NoteLine::damage() const {
  std::lock_guard lock(mutex);
  return damaged;
}

bool NoteLine::isToldAll() const {
  std::lock_guard lock(mutex);
  return toTell.empty();
}

bool NoteLine::isClosed() const {
  std::lock_guard lock(mutex);
  return channel->isClosed();
}

Clock::time_point NoteLine::lastHeard() const {
  std::lock_guard lock(mutex);
  return heardAt;
}

Clock::time_point NoteLine::lastFelt() const {
  std::lock_guard lock(mutex);
  return feltAt;
}

/// Hears before it speaks: to a peer that has left nothing can be said, and then its farewell could not be
/// read any more.
void NoteLine::put(const Note &note) {
  hear();
  const std::vector<std::byte> bytes = encode(note);
  toTell.insert(toTell.end(), bytes.begin(), bytes.end());
  say();
}

void NoteLine::say() {
  while (told < toTell.size()) {
    const Channel::Moved moved = channel->write(std::span<const std::byte>(toTell).subspan(told));
    told += moved.bytes;
    if (moved.bytes == 0)
      return;
  }
  toTell.clear();
  told = 0;
}

void NoteLine::hear() {
  while (damaged.ok()) {
    const Channel::Moved read = channel->read(reader.incoming());
    if (read.bytes == 0)
      return;
    Note note;
    Result<bool> isWhole = reader.received(read.bytes, note);
    if (!isWhole.ok())
      damaged = isWhole.status();
    feltAt = Clock::now();
    if (!isWhole.ok() || !*isWhole || note.kind == NoteKind::Running)
      continue;
    heardAt = feltAt;
    if (note.kind != NoteKind::Alive)
      heard.push_back(std::move(note));
  }
}

} // namespace cgx::tcp
