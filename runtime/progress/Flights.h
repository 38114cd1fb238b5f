//===-- progress/Flights.h - Collectives in flight ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives of one context that were started and not waited for yet. One thread, that of the step,
// calls; what it started runs on another, in the order of the starts, and with everything that it
// uses for itself: the transport, scratch memory, codec state. Whoever wants to use these on the
// thread of the step lands first.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PROGRESS_FLIGHTS_H
#define CGX_RUNTIME_PROGRESS_FLIGHTS_H

#include "progress/ProgressThread.h"
#include "transport/Transport.h"

#include <memory>
#include <vector>

namespace cgx {

class Flights {
public:
  /// Runs a collective; `beside` the step, or on its thread.
  using Run = std::function<Status(bool beside)>;

  Flights(Transport &transport, size_t collectives) : transport(transport), flights(collectives) {}
  /// Ends what is in flight, and with it the job.
  ~Flights();
  Flights(const Flights &) = delete;
  Flights &operator=(const Flights &) = delete;

  /// Whether this collective was started and not waited for.
  bool isInFlight(size_t collective) const { return flights[collective].started; }
  /// Whether any was.
  bool any() const { return inFlight != 0; }

  /// Of a collective that is not in flight. The first failure stops what comes behind, and tells all ranks.
  void start(size_t collective, Run run);
  /// Waits for a collective in flight, and says how it ended.
  Status wait(size_t collective);
  /// Waits for all; they are still to be waited for one by one. The first failure.
  Status land();
  /// The same, but makes those that wait for other ranks give up with `reason`.
  Status cancel(const Status &reason);
  /// Takes what is in flight as waited for.
  void forget();

private:
  struct Flight {
    bool started = false;
    ProgressThread::Ticket ticket = 0;
    Status status; ///< once it has landed
  };

  Transport &transport;
  std::vector<Flight> flights; ///< by the collective's position in the program
  size_t inFlight = 0;
  Status failure;                         ///< of the thread that runs; others read it when all have landed
  std::unique_ptr<ProgressThread> thread; ///< last: it uses everything above
};

} // namespace cgx

#endif // CGX_RUNTIME_PROGRESS_FLIGHTS_H
