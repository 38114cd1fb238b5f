//===-- transport/tcp/NoteLine.h - What two ranks say beside data -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_NOTELINE_H
#define CGX_RUNTIME_TRANSPORT_TCP_NOTELINE_H

#include "Channel.h"

#include <deque>
#include <mutex>
#include <optional>

namespace cgx::tcp {

/// The connection for notes between two ranks. Two threads use it: the one that calls the transport, and the
/// process's pulse. No call waits.
class NoteLine {
public:
  explicit NoteLine(std::unique_ptr<Channel> channel) : channel(std::move(channel)) {}

  /// Says a note as soon as the connection takes it.
  void tell(const Note &note);
  /// The same for a sign of life, unless others are waiting to be said: it would come late.
  void showLife(NoteKind kind);
  /// Says what is waiting, and hears what has come.
  void advance();

  /// The next note that was heard and is more than a sign of life.
  std::optional<Note> take();
  /// What was heard was no note.
  Status damage() const;
  bool isToldAll() const;
  bool isClosed() const;
  int descriptor() const { return channel->descriptor(); }

  /// When anything was heard but that the process runs, and when anything at all.
  Clock::time_point lastHeard() const;
  Clock::time_point lastFelt() const;

private:
  void put(const Note &note);
  void say();
  void hear();

  mutable std::mutex mutex; ///< guards all that follows
  std::unique_ptr<Channel> channel;
  NoteReader reader;
  std::deque<Note> heard;
  std::vector<std::byte> toTell; ///< notes that did not fit, from `told` on
  size_t told = 0;
  Status damaged;
  Clock::time_point heardAt = Clock::now(), feltAt = heardAt;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_NOTELINE_H
