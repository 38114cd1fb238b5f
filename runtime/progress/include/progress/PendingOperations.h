//===-- progress/PendingOperations.h - Collectives pending ---------------*- C++ -*-===//
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
// thread of the step waits for all first.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_PROGRESS_PENDINGOPERATIONS_H
#define CGX_RUNTIME_PROGRESS_PENDINGOPERATIONS_H

#include "progress/ProgressThread.h"
#include "transport/Transport.h"

#include <memory>
#include <vector>

namespace cgx {

class PendingOperations {
public:
  /// Runs a collective; `beside` the step, or on its thread.
  using Run = std::function<Status(bool beside)>;

  PendingOperations(Transport &transport, size_t collectives)
      : transport(transport), operations(collectives) {}
  /// Ends what is pending, and with it the job.
  ~PendingOperations();
  PendingOperations(const PendingOperations &) = delete;
  PendingOperations &operator=(const PendingOperations &) = delete;

  /// Whether this collective was started and not waited for.
  bool isPending(size_t collective) const { return operations[collective].started; }
  /// Whether any was.
  bool any() const { return pendingCount != 0; }

  /// Of a collective that is not pending. The first failure stops what comes behind, and tells all ranks.
  void start(size_t collective, Run run);
  /// Waits for a collective pending, and says how it ended.
  Status wait(size_t collective);
  /// Waits for all; they are still to be waited for one by one. The first failure.
  Status waitForAll();
  /// The same, but makes those that wait for other ranks give up with `reason`.
  Status cancel(const Status &reason);
  /// Takes what is pending as waited for.
  void forget();

private:
  struct PendingOperation {
    bool started = false;
    ProgressThread::Ticket ticket = 0;
    Status status; ///< once it has completed
  };

  Transport &transport;
  std::vector<PendingOperation> operations; ///< by the collective's position in the program
  size_t pendingCount = 0;
  Status failure;                         ///< of the thread that runs; others read it when all have completed
  std::unique_ptr<ProgressThread> thread; ///< last: it uses everything above
};

} // namespace cgx

#endif // CGX_RUNTIME_PROGRESS_PENDINGOPERATIONS_H
