//===-- Pulse.h - That this process lives -----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank that computes, writes a checkpoint or compiles for long does not call the
// runtime, and one that is stopped does not either. One thread of the process beats
// while it lives: so others can tell the slow from the dead.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_PULSE_H
#define CGX_RUNTIME_TRANSPORT_PULSE_H

#include <cstdint>
#include <functional>

namespace cgx {

/// While it lives, `beat` is called some twenty times a second by a thread of the process, unless the process
/// is stopped. It must not wait for others. A child that was forked and did not exec does not beat.
class Pulse {
public:
  explicit Pulse(std::function<void()> beat);
  /// Waits for a beat that is being made.
  ~Pulse();
  Pulse(const Pulse &) = delete;
  Pulse &operator=(const Pulse &) = delete;

private:
  uint64_t number;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_PULSE_H
