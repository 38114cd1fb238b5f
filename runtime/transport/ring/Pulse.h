//===-- Pulse.h - That this process lives -----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank that computes, writes a checkpoint or compiles for long does not call the
// runtime, and one that is stopped does not either. One thread of the process counts
// while it lives: so others can tell the slow from the dead.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_RING_PULSE_H
#define CGX_RUNTIME_TRANSPORT_RING_PULSE_H

#include <atomic>
#include <cstdint>

namespace cgx {

/// While it lives, `counter` is counted up some twenty times a second, unless the process is stopped. A child
/// that was forked and did not exec does not count.
class Pulse {
public:
  explicit Pulse(std::atomic<uint32_t> &counter);
  ~Pulse();
  Pulse(const Pulse &) = delete;
  Pulse &operator=(const Pulse &) = delete;

private:
  std::atomic<uint32_t> &counter;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_RING_PULSE_H
