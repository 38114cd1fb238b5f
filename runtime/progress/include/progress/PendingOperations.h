//===-- progress/PendingOperations.h - Collectives that are pending -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These are the collectives of one context that were started and not waited for yet. One thread, that of the
// step, makes the calls; another thread runs what was started, in the order of the starts, and has exclusive
// use of everything it needs: the transport, scratch memory, codec state. Before the thread of the step uses
// any of these, it waits for all.
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
  /// A function that runs a collective, `beside` the step or on its thread.
  using Run = std::function<Status(bool beside)>;

  PendingOperations(Transport &transport, size_t collectives)
      : transport(transport), operations(collectives) {}
  /// Cancels pending operations, and with them the job.
  ~PendingOperations();
  PendingOperations(const PendingOperations &) = delete;
  PendingOperations &operator=(const PendingOperations &) = delete;

  /// Returns true if this collective was started and not waited for.
  bool isPending(size_t collective) const { return operations[collective].started; }
  /// Returns true if any collective is pending.
  bool any() const { return pendingCount != 0; }

  /// Starts a collective that is not pending. The first failure stops all later ones, and tells all ranks.
  void start(size_t collective, Run run);
  /// Waits for a pending collective, and returns its status.
  Status wait(size_t collective);
  /// Waits until all have completed; each must still be waited for. Returns the first failure.
  Status waitForAll();
  /// Waits as waitForAll() does, but makes operations that wait for other ranks give up with `reason`.
  Status cancel(const Status &reason);
  /// Treats all pending operations as waited for.
  void forget();

private:
  struct PendingOperation {
    bool started = false;
    ProgressThread::Ticket ticket = 0;
    Status status; ///< set when it has completed
  };

  Transport &transport;
  std::vector<PendingOperation> operations; ///< by the collective's position in the program
  size_t pendingCount = 0;
  Status failure;                         ///< written by the progress thread; read when all have completed
  std::unique_ptr<ProgressThread> thread; ///< last member, because it uses everything above
};

} // namespace cgx

#endif // CGX_RUNTIME_PROGRESS_PENDINGOPERATIONS_H
