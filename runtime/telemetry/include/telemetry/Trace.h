//===-- telemetry/Trace.h - Spans of time of one rank -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TELEMETRY_TRACE_H
#define CGX_RUNTIME_TELEMETRY_TRACE_H

#include "manifest/Manifest.h"

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace cgx {

using TraceClock = std::chrono::steady_clock;

enum class Activity : uint8_t { Step, Compute, Collective, Encode, Exchange, Decode, Wait };

/// The spans of time of one thread. Only that thread adds to it.
class Timeline {
public:
  /// Stands for no collective.
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Adds a span from `begin` to `end`, for the collective at position `collective` of the program.
  void add(Activity activity, uint32_t collective, TraceClock::time_point begin, TraceClock::time_point end) {
    if (spans.size() < kMost)
      spans.push_back({begin, end, collective, activity});
    else
      ++dropped;
  }

private:
  friend class Trace;
  struct Span {
    TraceClock::time_point begin, end;
    uint32_t collective;
    Activity activity;
  };
  /// The limit of 64 MB holds hours of a small job, or some thousand steps of a large one.
  static constexpr size_t kMost = size_t(2) << 20;

  std::vector<Span> spans;
  uint64_t dropped = 0; ///< spans beyond the limit
};

/// The activities of the threads of one rank since the trace began.
class Trace {
public:
  /// The timelines of the thread that runs the step, and of the progress thread.
  Timeline step, progress;

  /// Returns the events of the trace event format (Chrome, Perfetto) as a JSON array; the rank is the
  /// process. Times are microseconds of the system's clock, so that ranks of several hosts can be compared.
  std::string toJson(const Program &program, uint32_t rank) const;

private:
  TraceClock::time_point began = TraceClock::now();
  std::chrono::system_clock::time_point beganAt = std::chrono::system_clock::now();
};

} // namespace cgx

#endif // CGX_RUNTIME_TELEMETRY_TRACE_H
