//===-- transport/mpi/linked/MpiSession.cpp - MPI in this process -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/mpi/linked/MpiSession.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace cgx {

static std::atomic<bool> abandoned{false}, startedHere{false};

/// The object is never destroyed: MPI may end after this process's objects.
static std::recursive_mutex &turns() {
  static auto *one = new std::recursive_mutex;
  return *one;
}

MpiTurn::MpiTurn() : lock(turns()) {}

std::optional<MpiTurn> MpiTurn::tryToTake() {
  std::unique_lock lock(turns(), std::try_to_lock);
  return lock ? std::optional(MpiTurn(std::move(lock))) : std::nullopt;
}

void abandonMpi() { abandoned = true; }
bool isMpiAbandoned() { return abandoned; }

Status mpiStatus(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return Status();
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return Status::error(CGX_INTERNAL, call, ": ", std::string(text, size_t(length)));
}

namespace {
struct Unfinished {
  MPI_Request request;
  std::shared_ptr<void> memory;
};
} // namespace

/// Messages given to finishBeforeMpiEnds(). The list is never destroyed: MPI may end after this process's
/// objects.
static std::vector<Unfinished> &unfinished() {
  static auto *all = new std::vector<Unfinished>;
  return *all;
}

void finishBeforeMpiEnds(MPI_Request request, std::shared_ptr<void> memory) {
  unfinished().push_back({request, std::move(memory)});
}

/// Returns true if all of them complete. The other ranks are finishing as well, and receive them.
static bool finishAll() {
  Clock::time_point deadline = Clock::now() + std::chrono::seconds(30);
  for (Unfinished &entry : unfinished())
    for (int done = 0; !done;) {
      if (MPI_Test(&entry.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || Clock::now() >= deadline)
        return false;
      if (!done)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  return true;
}

static void finalizeAtExit() {
  const MpiTurn turn;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && !abandoned && finishAll())
    MPI_Finalize();
  abandonMpi(); // contexts that are not destroyed still send heartbeats
}

bool mayCallMpiBesides() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  return startedHere || provided == MPI_THREAD_MULTIPLE;
}

namespace {
/// State shared by the thread that starts MPI and the one that waits for it, which may have stopped waiting.
struct Start {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<int> code;
  int provided = MPI_THREAD_SINGLE;
};
} // namespace

/// Calls MPI_Init_thread, which waits for all ranks, and for ever if one has died before it. Another thread
/// makes the call, and is left running after the timeout.
static Status initialise(std::chrono::milliseconds timeout, int &provided) {
  auto start = std::make_shared<Start>();
  std::thread([start] {
    int granted = MPI_THREAD_SINGLE;
    const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted);
    std::lock_guard lock(start->mutex);
    start->code = code;
    start->provided = granted;
    start->changed.notify_all();
  }).detach();
  std::unique_lock lock(start->mutex);
  if (!start->changed.wait_for(lock, timeout, [&] { return start->code.has_value(); })) {
    abandonMpi();
    return Status::error(CGX_TIMEOUT, "MPI_Init_thread did not return within ", timeout.count(),
                         " ms: not all ranks have started, or one has died; its own output says why");
  }
  provided = start->provided;
  return mpiStatus(*start->code, "MPI_Init_thread");
}

Status startMpi(std::chrono::milliseconds timeout) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  int initialized = 0, finalized = 0, provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized || abandoned)
    return Status(CGX_UNSUPPORTED, "MPI was finalized, or a job over it has failed, in this process");
  if (!initialized) {
    if (Status status = initialise(timeout, provided); !status.ok())
      return status;
    std::atexit(finalizeAtExit);
    startedHere = true;
    if (provided < MPI_THREAD_SERIALIZED)
      return Status(CGX_UNSUPPORTED, "expected an MPI that serves any thread (MPI_THREAD_SERIALIZED)");
  }
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_FUNNELED)
    return Status(CGX_UNSUPPORTED, "expected an MPI that allows threads (MPI_THREAD_FUNNELED)");
  return Status();
}

Status finishTogether(MPI_Request request, std::chrono::milliseconds timeout) {
  Clock::time_point deadline = Clock::now() + timeout;
  for (int done = 0;;) {
    const auto test = [&] {
      const MpiTurn turn;
      return mpiStatus(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    };
    if (Status status = test(); !status.ok())
      return status;
    if (done)
      return Status();
    if (Clock::now() >= deadline) {
      abandonMpi();
      return Status::error(CGX_TIMEOUT, "not all ranks of MPI_COMM_WORLD joined the job within ",
                           timeout.count(), " ms");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Result<MPI_Comm> makeCommunicator(std::chrono::milliseconds timeout) {
  // The variable is static because MPI may write to it after this function has returned.
  static MPI_Comm communicator;
  MPI_Request request;
  const auto begin = [&] {
    const MpiTurn turn;
    return mpiStatus(MPI_Comm_idup(MPI_COMM_WORLD, &communicator, &request), "MPI_Comm_idup");
  };
  if (Status status = begin(); !status.ok())
    return status;
  if (Status status = finishTogether(request, timeout); !status.ok())
    return status;
  const MpiTurn turn;
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  return communicator;
}

} // namespace cgx
