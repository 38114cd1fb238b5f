//===-- transport/tcp/AwaitedNote.h - A note, as it comes ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_TCP_AWAITEDNOTE_H
#define CGX_RUNTIME_TRANSPORT_TCP_AWAITEDNOTE_H

#include "Channel.h"

namespace cgx::tcp {

/// A note that a peer is to send, read whenever somebody looks, so that several peers can be waited for at
/// once.
class AwaitedNote {
public:
  /// Takes what is there, without waiting. An error where the peer says that it has failed, sends no note, or
  /// is gone, also after the note has come.
  Status look(Channel &channel);
  /// Waits for the note.
  Status await(Channel &channel, Clock::time_point deadline);

  bool hasCome() const { return isWhole; }
  /// Once it has come.
  const Note &note() const { return last; }

private:
  NoteReader reader;
  Note last;
  bool isWhole = false;
};

} // namespace cgx::tcp

#endif // CGX_RUNTIME_TRANSPORT_TCP_AWAITEDNOTE_H
