//===-- progress/Flights.cpp - Collectives in flight -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "progress/Flights.h"

#include "transport/Patience.h"

#include <exception>

namespace cgx {

Flights::~Flights() {
  if (any())
    (void)cancel(
        Status::error(CGX_PEER_DIED, "rank ", transport.rank(), " left the job with a collective in flight"));
}

/// On the progress thread nobody else would catch what the memory of the host program may throw.
static Status runGuarded(const Flights::Run &run, bool beside) {
  try {
    return run(beside);
  } catch (const std::exception &error) {
    return {CGX_INTERNAL, error.what()};
  }
}

void Flights::start(size_t collective, Run run) {
  Flight &flight = flights[collective];
  flight.started = true;
  ++inFlight;
  bool beside = transport.servesAnyThread();
  auto work = [this, &flight, beside, run = std::move(run)] {
    if (failure.ok())
      failure = runGuarded(run, beside);
    flight.status = failure;
    if (!failure.ok())
      transport.fail(failure);
  };
  if (!beside)
    return work();
  if (!thread) // a thread for the step and one for this on each rank
    thread = std::make_unique<ProgressThread>(2 * transport.ranks() <= Patience::usableCores());
  flight.ticket = thread->submit(std::move(work));
}

Status Flights::wait(size_t collective) {
  Flight &flight = flights[collective];
  if (thread)
    thread->await(flight.ticket);
  flight.started = false;
  --inFlight;
  return flight.status;
}

Status Flights::land() {
  if (thread)
    thread->awaitAll();
  return failure;
}

Status Flights::cancel(const Status &reason) {
  if (thread && !thread->isIdle())
    transport.interrupt(reason);
  return land();
}

void Flights::forget() {
  for (Flight &flight : flights)
    flight.started = false;
  inFlight = 0;
}

} // namespace cgx
