//===-- telemetry/Telemetry.h - Counters of bytes and times -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TELEMETRY_TELEMETRY_H
#define CGX_RUNTIME_TELEMETRY_TELEMETRY_H

#include "telemetry/Trace.h"

namespace cgx {

struct OperandCounters {
  uint64_t rawBytes = 0;   ///< bytes that the same algorithm would have sent uncompressed
  uint64_t wireBytes = 0;  ///< payload bytes that left this rank
  uint64_t firstBytes = 0; ///< for changes: the part of wireBytes for samples that had not been sent before
};

/// The accumulated time of one activity of one collective.
struct Timer {
  Activity activity;
  std::chrono::nanoseconds time{};
  Timeline *timeline = nullptr; ///< receives the spans; null: none does
  uint32_t collective = Timeline::kNone;
};

/// Adds the time until the end of its scope to a timer.
class Stopwatch {
public:
  explicit Stopwatch(Timer &timer) : timer(timer) {}
  ~Stopwatch() {
    TraceClock::time_point end = TraceClock::now();
    timer.time += end - begin;
    if (timer.timeline)
      timer.timeline->add(timer.activity, timer.collective, begin, end);
  }
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

private:
  Timer &timer;
  TraceClock::time_point begin = TraceClock::now();
};

struct CollectiveCounters {
  uint64_t runs = 0;
  std::vector<OperandCounters> operands;
  Timer encode{Activity::Encode};
  Timer exchange{Activity::Exchange}; ///< sending, receiving, waiting for ranks
  Timer decode{Activity::Decode};     ///< decoding and reducing
  Timer total{Activity::Collective};  ///< time of all runs
  Timer wait{Activity::Wait};         ///< the part of `total` during which the step did nothing else

  /// Sets the timeline of the thread that runs the collective next; null keeps no spans.
  void runsOn(Timeline *timeline) {
    for (Timer *timer : {&encode, &exchange, &decode, &total})
      timer->timeline = timeline;
  }
};

/// The counters of one context, with collectives in the program's order.
struct Telemetry {
  uint64_t steps = 0;
  Timer profiling{Activity::Compute}; ///< measuring, solving, agreeing; not part of any collective
  std::vector<CollectiveCounters> collectives;

  explicit Telemetry(const Program &program);

  /// Returns the JSON of cgx_context_telemetry; runtime/README.md has its schema.
  std::string toJson(const Program &program, uint32_t rank, uint64_t transportBytes) const;
};

} // namespace cgx

#endif // CGX_RUNTIME_TELEMETRY_TELEMETRY_H
