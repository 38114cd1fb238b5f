//===-- telemetry/Telemetry.h - What was sent, and how long it took -*- C++ -*-===//
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
  uint64_t rawBytes = 0;   ///< what the same algorithm would have sent uncompressed
  uint64_t wireBytes = 0;  ///< payload bytes that left this rank
  uint64_t firstBytes = 0; ///< of changes: those of them that were rows of samples not sent before
};

/// Adds up the time of one activity of one collective.
struct Timer {
  Activity activity;
  std::chrono::nanoseconds time{};
  Timeline *timeline = nullptr; ///< where spans are kept; null: nowhere
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
  Timer total{Activity::Collective};  ///< of all runs
  Timer wait{Activity::Wait};         ///< the part of it during which the step did nothing else

  /// Whoever runs the collective next keeps its spans there; null: nowhere.
  void runsOn(Timeline *timeline) {
    for (Timer *timer : {&encode, &exchange, &decode, &total})
      timer->timeline = timeline;
  }
};

/// The counters of one context; collectives in the order of the program's.
struct Telemetry {
  uint64_t steps = 0;
  Timer profiling{Activity::Compute}; ///< measuring, solving, agreeing; not part of any collective
  std::vector<CollectiveCounters> collectives;

  explicit Telemetry(const Program &program);

  /// The JSON of cgx_context_telemetry; the schema is in runtime/README.md.
  std::string toJson(const Program &program, uint32_t rank, uint64_t transportBytes) const;
};

} // namespace cgx

#endif // CGX_RUNTIME_TELEMETRY_TELEMETRY_H
