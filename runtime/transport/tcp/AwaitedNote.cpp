//===-- transport/tcp/AwaitedNote.cpp - A note, as it comes ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AwaitedNote.h"

namespace cgx::tcp {

Status AwaitedNote::look(Channel &channel) {
  for (;;) {
    const Channel::Moved moved = channel.read(reader.incoming());
    if (moved.isClosed)
      return Status(CGX_PEER_DIED, channel.whyClosed());
    if (moved.bytes == 0)
      return Status();
    Result<bool> isNote = reader.received(moved.bytes, last);
    if (!isNote.ok())
      return isNote.status();
    if (!*isNote)
      continue;
    if (last.kind == NoteKind::Failed)
      return Status(last.code, last.text);
    isWhole = true;
    return Status(); // what comes behind it is for others to read
  }
}

Status AwaitedNote::await(Channel &channel, Clock::time_point deadline) {
  for (;;) {
    if (Status status = look(channel); !status.ok() || hasCome())
      return status;
    if (Clock::now() >= deadline)
      return Status(CGX_TIMEOUT, kNoAnswer);
    const Watch watch{channel.descriptor(), channel.wantsToWrite()};
    waitForAny({&watch, 1}, deadline);
  }
}

} // namespace cgx::tcp
