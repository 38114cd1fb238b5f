//===-- transport/ring/Doorbell.cpp - Sleeping until a peer rings -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Doorbell.h"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cgx {

void futexWait(std::atomic<uint32_t> &word, uint32_t expected, std::chrono::microseconds limit) {
  timespec timeout{};
  timeout.tv_sec = limit.count() / 1000000;
  timeout.tv_nsec = (limit.count() % 1000000) * 1000;
  // FUTEX_WAIT_PRIVATE would not do: the word may lie in memory of several processes.
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void ringDoorbell(LivenessRecord &record) {
  if (record.sleeping.load() == 0)
    return;
  record.doorbell.fetch_add(1);
  syscall(SYS_futex, &record.doorbell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

} // namespace cgx
