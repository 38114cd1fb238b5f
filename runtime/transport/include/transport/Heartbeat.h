//===-- Heartbeat.h - Heartbeats of a process -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank that computes, writes a checkpoint or compiles for long does not call the runtime, and neither does
// one that is stopped. One thread of the process sends heartbeats while it lives, so that others can tell the
// slow from the dead.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_HEARTBEAT_H
#define CGX_RUNTIME_TRANSPORT_HEARTBEAT_H

#include <cstdint>
#include <functional>

namespace cgx {

/// While it exists, a thread of the process calls `send` about twenty times a second, unless the process is
/// stopped. The function must not wait for other ranks. A forked child that did not exec sends none.
class Heartbeat {
public:
  explicit Heartbeat(std::function<void()> send);
  /// Waits until a running call of the function has returned.
  ~Heartbeat();
  Heartbeat(const Heartbeat &) = delete;
  Heartbeat &operator=(const Heartbeat &) = delete;

private:
  uint64_t number;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_HEARTBEAT_H
