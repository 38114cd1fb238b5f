//===-- Program.h - The ranks of this process in one program ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA calls handlers on its own threads, of which it has few, and in a process with several
// devices all of them would wait for each other. So a handler only leaves a request with the
// thread of its rank, which answers when it has run.
//
// XLA may execute a program again while an execution runs. All devices of the process take part
// in both, but each may take them in either order. Requests name their execution (XLA's run id),
// and all ranks of the process take executions in one order.
//
// A failure is answered at once, by the call that met it. XLA then gives the execution up; its
// remaining calls, of this execution or of others, are answered with that failure.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_TOOLS_JAX_FFI_PROGRAM_H
#define CGX_TOOLS_JAX_FFI_PROGRAM_H

#include "cgx/xla.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cgx::xla {

/// A function that is called once, on any thread, with the error; an empty text means success.
using Answer = std::function<void(const std::string &error)>;

/// The inputs and outputs of a collective, valid until it answers.
struct CollectiveBuffers {
  struct Lent {
    int64_t operand, kept, elementType, elements;
    const void *data;
  };
  int64_t collective = 0;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  std::vector<Lent> lent;
};

/// One of the three calls that a program makes.
struct Request {
  enum class Kind { Begin, Collective, End } kind;
  CollectiveBuffers buffers; ///< the buffers of a collective
  Answer answer;
  void *stream = nullptr; ///< the stream in whose order buffers on a GPU are read and written
};

/// Locks a mutex that is held only briefly: tries a few times before it sleeps, because waking up takes much
/// longer than a request. It does sleep if the holder has lost its core.
std::unique_lock<std::mutex> lockSoon(std::mutex &mutex);

class Program {
public:
  /// Starts to connect the ranks of this process; connected() has the result.
  explicit Program(const cgx_xla_program_config &config);
  ~Program();
  /// Ends the threads of the ranks once they have done their work. XLA may continue in one of them, inside an
  /// answer, and hold the last reference to the program there; so the program is stopped on another thread
  /// before it is destroyed.
  void stop();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// Waits until all ranks have a context, or one of them cannot have one.
  cgx_status connected(std::string &error);

  /// Returns the rank of a GPU of this process, or nothing.
  std::optional<uint32_t> rankOnGpu(int32_t gpu) const;

  /// Leaves a request of execution `run` with a rank. Answers at once if the rank is not in this process.
  void submit(uint32_t rank, int64_t run, Request request);

  /// Records that an execution was dispatched; waits while there are many. Returns the error of a failed
  /// rank.
  cgx_status dispatch(std::string &error);

  cgx_status visit(cgx_xla_visit_fn visit, void *user, std::string &error);
  void setStep(uint64_t step);
  uint64_t step();

private:
  using Clock = std::chrono::steady_clock;

  struct Visit {
    cgx_xla_visit_fn visit;
    void *user;
    size_t left;
    cgx_status status = CGX_OK;
    std::string error;
    std::condition_variable done;
  };

  /// A rank of this process. Only its thread uses the context.
  struct Rank {
    uint32_t number = 0;
    std::optional<int32_t> gpu; ///< the GPU with its tensors; empty: the host
    cgx_context *context = nullptr;
    std::optional<void *> stream; ///< the GPU's stream, once it is known
    bool isInStep = false;
    bool isStopping = false;
    int64_t run = 0;    ///< the execution that it is in
    uint64_t taken = 0; ///< the number of executions that it has begun
    uint64_t nextStep = 0;
    std::map<int64_t, std::deque<Request>> requests; ///< the waiting requests by execution
    std::deque<Visit *> visits;
    bool isConnected = false;
    cgx_status status = CGX_OK; ///< the first failure, which is final
    std::string failure;        ///< its message
    std::condition_variable changed;
    std::thread thread;
  };

  /// Runs a rank's thread. `tcp` is used only until the rank is connected.
  void serve(Rank &rank, const cgx_tcp_config *tcp);
  /// Takes the next request of a rank, if it may run. The lock is held.
  bool take(Rank &rank, Request &request);
  /// Ends an execution for a rank, with or without success. The lock is held.
  void leaveRun(Rank &rank);
  /// Records that a rank cannot continue. The lock is held.
  void fail(Rank &rank, cgx_status status, const std::string &message);
  /// Returns the first failure of a rank of this process, or CGX_OK. The lock is held.
  cgx_status firstFailure(std::string &error) const;
  /// Returns the number of executions that all ranks have ended. The lock is held.
  uint64_t countEnded() const;
  /// Returns true if requests of another execution wait while a rank is in one. The lock is held.
  bool isHeldUp(const Rank &rank) const;
  /// Ends the execution that a rank is in, because XLA gave it up for reasons of its own.
  void abandonRun(Rank &rank);
  void execute(Rank &rank, Request &request);
  /// Lets the context work in the order of a stream of its GPU.
  cgx_status follow(Rank &rank, void *stream);
  cgx_status run(Rank &rank, const Request &request);
  void connect(Rank &rank, const cgx_tcp_config *tcp);
  void runVisit(Rank &rank, Visit &visit);
  /// Returns the lock. All ranks take it at about the same time, and hold it for less than a microsecond.
  std::unique_lock<std::mutex> locked() { return lockSoon(mutex); }

  std::string transport, job, manifest;
  cgx_context_config config;
  std::mutex mutex;
  /// The executions in the order in which ranks take them. The first has the number `firstRun`.
  std::deque<int64_t> runs;
  uint64_t firstRun = 0;
  /// The set of ranks never changes, so it is read without the lock.
  std::map<uint32_t, std::unique_ptr<Rank>> ranks;
  Clock::time_point lastEvent; ///< when a rank last got or finished a request
  uint64_t dispatched = 0;     ///< executions that the framework has reported
  bool isStopped = false;      ///< no requests are taken any more
  bool hasFailed = false;      ///< executions may not begin any more
  std::condition_variable ended;
  std::condition_variable came; ///< a rank has connected, or has failed to
};

/// The open programs of this process by name, because the program's text is all that XLA passes to handlers.
class Programs {
public:
  static Programs &instance();

  cgx_status open(const cgx_xla_program_config &config, std::string &error);
  /// Returns the program, or null if there is none.
  std::shared_ptr<Program> take(const std::string &name);
  std::shared_ptr<Program> find(std::string_view name);

private:
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Program>, std::less<>> programs;
};

} // namespace cgx::xla

#endif // CGX_TOOLS_JAX_FFI_PROGRAM_H
