//===-- telemetry/Telemetry.h - What was sent, and how long it took -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TELEMETRY_TELEMETRY_H
#define CGX_RUNTIME_TELEMETRY_TELEMETRY_H

#include "manifest/Manifest.h"

#include <chrono>

namespace cgx {

struct OperandCounters {
  uint64_t rawBytes = 0;  ///< what the same algorithm would have sent uncompressed
  uint64_t wireBytes = 0; ///< payload bytes that left this rank
};

struct CollectiveCounters {
  uint64_t runs = 0;
  std::vector<OperandCounters> operands;
  std::chrono::nanoseconds encode{};
  std::chrono::nanoseconds exchange{}; ///< sending, receiving, waiting
  std::chrono::nanoseconds decode{};   ///< decoding and reducing
};

/// Adds the time until the end of its scope to a counter.
class Stopwatch {
public:
  explicit Stopwatch(std::chrono::nanoseconds &counter) : counter(counter) {}
  ~Stopwatch() { counter += std::chrono::steady_clock::now() - begin; }
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

private:
  std::chrono::nanoseconds &counter;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// The counters of one context; collectives in the order of the program's.
struct Telemetry {
  uint64_t steps = 0;
  std::chrono::nanoseconds profiling{}; ///< measuring, solving, agreeing; not part of any collective
  std::vector<CollectiveCounters> collectives;

  explicit Telemetry(const Program &program);

  /// The JSON of cgx_context_telemetry; the schema is in runtime/README.md.
  std::string toJson(const Program &program, uint32_t rank, uint64_t transportBytes) const;
};

} // namespace cgx

#endif // CGX_RUNTIME_TELEMETRY_TELEMETRY_H
