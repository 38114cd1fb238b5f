//===-- progress/PendingOperations.cpp - Collectives that are pending -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "progress/PendingOperations.h"

#include "transport/Backoff.h"

#include <exception>

namespace cgx {

PendingOperations::~PendingOperations() {
  if (any())
    (void)cancel(
        Status::error(CGX_PEER_DIED, "rank ", transport.rank(), " left the job with a collective pending"));
}

/// On the progress thread nobody else would catch what the host program's memory callbacks may throw.
static Status runGuarded(const PendingOperations::Run &run, bool beside) {
  try {
    return run(beside);
  } catch (const std::exception &error) {
    return {CGX_INTERNAL, error.what()};
  }
}

void PendingOperations::start(size_t collective, Run run) {
  PendingOperation &operation = operations[collective];
  operation.started = true;
  ++pendingCount;
  bool beside = transport.servesAnyThread();
  auto work = [this, &operation, beside, run = std::move(run)] {
    if (failure.ok())
      failure = runGuarded(run, beside);
    operation.status = failure;
    if (!failure.ok())
      transport.fail(failure);
  };
  if (!beside)
    return work();
  if (!thread) // each rank has a thread for the step and one for this
    thread = std::make_unique<ProgressThread>(2 * transport.ranks() <= Backoff::usableCores());
  operation.ticket = thread->submit(std::move(work));
}

Status PendingOperations::wait(size_t collective) {
  PendingOperation &operation = operations[collective];
  if (thread)
    thread->await(operation.ticket);
  operation.started = false;
  --pendingCount;
  return operation.status;
}

Status PendingOperations::waitForAll() {
  if (thread)
    thread->awaitAll();
  return failure;
}

Status PendingOperations::cancel(const Status &reason) {
  if (thread && !thread->isIdle())
    transport.interrupt(reason);
  return waitForAll();
}

void PendingOperations::forget() {
  for (PendingOperation &operation : operations)
    operation.started = false;
  pendingCount = 0;
}

} // namespace cgx
