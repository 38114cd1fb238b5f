//===-- transport/Transport.cpp - The interface of transports ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/Transport.h"

namespace cgx {

std::string describe(const Tag &tag) {
  return concat("step ", tag.step, ", collective ", tag.collective, ", phase ", tag.phase, ", part ",
                tag.part);
}

void Transport::interrupt(const Status &reason) {
  std::lock_guard lock(interrupting);
  if (interruptedBy.ok())
    interruptedBy = reason;
  interrupted = true;
}

Status Transport::interruption() const {
  if (!interrupted.load(std::memory_order_relaxed))
    return Status();
  std::lock_guard lock(interrupting);
  return interruptedBy;
}

} // namespace cgx
