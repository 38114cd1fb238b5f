//===-- transport/tcp/ControlReply.cpp - A control message that is expected -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlReply.h"

namespace cgx::tcp {

Status ControlReply::look(Channel &channel) {
  for (;;) {
    const Channel::Moved moved = channel.read(reader.incoming());
    if (moved.isClosed)
      return Status(CGX_PEER_DIED, channel.whyClosed());
    if (moved.bytes == 0)
      return Status();
    Result<bool> isWholeMessage = reader.received(moved.bytes, last);
    if (!isWholeMessage.ok())
      return isWholeMessage.status();
    if (!*isWholeMessage)
      continue;
    if (last.kind == ControlKind::Failed)
      return Status(last.code, last.text);
    isWhole = true;
    return Status(); // later messages are for others to read
  }
}

Status ControlReply::await(Channel &channel, Clock::time_point deadline) {
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
