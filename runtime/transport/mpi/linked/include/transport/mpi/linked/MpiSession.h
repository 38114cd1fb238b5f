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

/// What MPI says of an error code, as a status; OK for MPI_SUCCESS.
Status mpiStatus(int code, const char *call);

/// While one lives, no other thread of the process calls MPI through us: MPI_THREAD_SERIALIZED asks for that.
/// Turns of one thread may lie inside of each other.
class MpiTurn {
public:
  MpiTurn();

  /// Takes the turn if nobody has it.
  static std::optional<MpiTurn> tryToTake();

private:
  explicit MpiTurn(std::unique_lock<std::recursive_mutex> lock) : lock(std::move(lock)) {}
  std::unique_lock<std::recursive_mutex> lock;
};

/// Whether a thread of our own may call MPI, beside those of the host program: if we have started it, or it
/// was started with MPI_THREAD_MULTIPLE.
bool mayCallMpiBesides();

/// Starts MPI, once, unless the host program has. It is finalized when the process ends
/// normally. At most `timeout` is waited for the other ranks, and MPI cannot be started again after that.
Status startMpi(std::chrono::milliseconds timeout);

/// Lets a message take its time: `memory`, which holds it, stays until it has been taken or MPI is ended.
void finishBeforeMpiEnds(MPI_Request request, std::shared_ptr<void> memory);

/// After a failure nothing may be asked of MPI: messages to dead ranks would never end, and finalizing waits
/// for them. The process then ends without.
void abandonMpi();
bool isMpiAbandoned();

/// Waits for what all ranks of the job do together, at most `timeout`.
Status finishTogether(MPI_Request request, std::chrono::milliseconds timeout);

/// A communicator of the job's own, equal to MPI_COMM_WORLD, that returns errors. Waits for the other
/// ranks, at most `timeout`.
Result<MPI_Comm> makeCommunicator(std::chrono::milliseconds timeout);

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MPI_LINKED_MPISESSION_H
