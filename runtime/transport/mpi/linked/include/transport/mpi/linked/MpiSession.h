//===-- transport/mpi/linked/MpiSession.h - MPI in this process ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPISESSION_H
#define CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPISESSION_H

#include "transport/Transport.h"

#include <memory>
#include <mpi.h>
#include <mutex>
#include <optional>

namespace cgx {

/// Returns MPI's error code as a status; OK for MPI_SUCCESS.
Status mpiStatus(int code, const char *call);

/// A turn to call MPI. While one exists, no other thread of the process calls MPI through the runtime, as
/// MPI_THREAD_SERIALIZED demands. Turns of one thread may be nested.
class MpiTurn {
public:
  MpiTurn();

  /// Takes the turn if no thread has it.
  static std::optional<MpiTurn> tryToTake();

private:
  explicit MpiTurn(std::unique_lock<std::recursive_mutex> lock) : lock(std::move(lock)) {}
  std::unique_lock<std::recursive_mutex> lock;
};

/// Returns true if a thread of the runtime may call MPI beside those of the host program: if the runtime
/// started it, or it was started with MPI_THREAD_MULTIPLE.
bool mayCallMpiBesides();

/// Starts MPI, once, unless the host program has. It is finalized when the process ends normally. The call
/// waits for the other ranks at most `timeout`, and MPI cannot be started again after that.
Status startMpi(std::chrono::milliseconds timeout);

/// Lets a message complete later: `memory`, which holds it, is kept until the message has been taken or MPI
/// ends.
void finishBeforeMpiEnds(MPI_Request request, std::shared_ptr<void> memory);

/// Stops all use of MPI after a failure: messages to dead ranks would never complete, and finalizing would
/// wait for them. The process then ends without finalizing MPI.
void abandonMpi();
bool isMpiAbandoned();

/// Waits for an operation of all ranks of the job, at most `timeout`.
Status finishTogether(MPI_Request request, std::chrono::milliseconds timeout);

/// Creates the job's own communicator, equal to MPI_COMM_WORLD, that returns errors. Waits for the other
/// ranks, at most `timeout`.
Result<MPI_Comm> makeCommunicator(std::chrono::milliseconds timeout);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPISESSION_H
