//===-- Program.h - the ranks of this process in one program -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA calls handlers on threads of its own, of which it has few, and in a process with
// several devices all of them would wait for each other. So a handler only leaves a request
// with the thread of its rank, which answers when it has run.
//
// XLA may execute a program again while it executes it: with all devices of the
// process in both executions, but in either order on each. Requests name their execution
// (XLA's run id), and all ranks of the process take executions in one order.
//
// A failure is answered at once, by the call that met it: XLA then gives the execution up, and
// what it still calls, of this execution or of others, is answered with that failure.
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

/// Called once, on any thread, with what went wrong; empty: nothing.
using Answer = std::function<void(const std::string &error)>;

/// What a collective reads and writes, until it answers.
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
  CollectiveBuffers buffers; ///< of a collective
  Answer answer;
  void *stream = nullptr; ///< in whose order buffers on a GPU are read and written
};

/// Locks what is held for a moment only: asks a few times before it sleeps, since being woken takes longer
/// than a request does, by far. Whose holder was put off its core is slept for.
std::unique_lock<std::mutex> lockSoon(std::mutex &mutex);

class Program {
public:
  /// Connects the ranks of this process; ask connected() how that went.
  explicit Program(const cgx_xla_program_config &config);
  ~Program();
  /// Ends the threads of the ranks, once they have done what was asked of them. XLA may go on in one of them,
  /// inside of an answer, and hold the program there last: so whoever closes it stops it first, on another
  /// thread.
  void stop();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// Waits until all ranks have a context, or one of them cannot have one.
  cgx_status connected(std::string &error);

  /// The rank of a GPU of this process, or nothing.
  std::optional<uint32_t> rankOnGpu(int32_t gpu) const;

  /// Leaves a request of execution `run` with a rank. Answers at once if the rank is not of this process.
  void submit(uint32_t rank, int64_t run, Request request);

  /// An execution was dispatched; waits while there are many. Says what has failed.
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

  /// One rank of this process. Its thread alone touches the context.
  struct Rank {
    uint32_t number = 0;
    std::optional<int32_t> gpu; ///< where its tensors lie, unless on the host
    cgx_context *context = nullptr;
    std::optional<void *> stream; ///< of the GPU, once it is known
    bool isInStep = false;
    bool isStopping = false;
    int64_t run = 0;    ///< the execution that it is in
    uint64_t taken = 0; ///< how many executions it has begun
    uint64_t nextStep = 0;
    std::map<int64_t, std::deque<Request>> requests; ///< by execution
    std::deque<Visit *> visits;
    bool isConnected = false;
    cgx_status status = CGX_OK; ///< of the first failure, which is final
    std::string failure;        ///< its message
    std::condition_variable changed;
    std::thread thread;
  };

  /// What a rank's thread does. `tcp` outlives the connecting only.
  void serve(Rank &rank, const cgx_tcp_config *tcp);
  /// The next request of a rank, if it may run. The lock is held.
  bool take(Rank &rank, Request &request);
  /// An execution is over for a rank, whichever way. The lock is held.
  void leaveRun(Rank &rank);
  /// A rank cannot go on. The lock is held.
  void fail(Rank &rank, cgx_status status, const std::string &message);
  /// The first failure of a rank of this process; CGX_OK without. The lock is held.
  cgx_status firstFailure(std::string &error) const;
  /// How many executions all ranks have ended. The lock is held.
  uint64_t countEnded() const;
  /// Whether requests of another execution wait while a rank is in one. The lock is held.
  bool isHeldUp(const Rank &rank) const;
  /// The execution that a rank is in does not go on: XLA gave it up, for reasons of its own.
  void abandonRun(Rank &rank);
  void execute(Rank &rank, Request &request);
  /// Has the context work in the order of a stream of its GPU.
  cgx_status follow(Rank &rank, void *stream);
  cgx_status run(Rank &rank, const Request &request);
  void connect(Rank &rank, const cgx_tcp_config *tcp);
  void runVisit(Rank &rank, Visit &visit);
  /// The lock. All ranks ask for it at about the same time, and hold it for less than a microsecond.
  std::unique_lock<std::mutex> locked() { return lockSoon(mutex); }

  std::string transport, job, manifest;
  cgx_context_config config;
  std::mutex mutex;
  /// Executions in the order in which ranks take them; the first has the number `firstRun`.
  std::deque<int64_t> runs;
  uint64_t firstRun = 0;
  std::map<uint32_t, std::unique_ptr<Rank>> ranks; ///< who they are never changes: looked up without the lock
  Clock::time_point lastEvent;                     ///< when a rank was asked for something, or had done it
  uint64_t dispatched = 0;                         ///< executions, as far as the framework said
  bool isStopped = false;                          ///< nothing is taken any more
  bool hasFailed = false;                          ///< from then on executions may not begin
  std::condition_variable ended;
  std::condition_variable came; ///< a rank connected, or could not
};

/// The open programs of this process, by name: XLA gives handlers nothing but what the program says.
class Programs {
public:
  static Programs &instance();

  cgx_status open(const cgx_xla_program_config &config, std::string &error);
  /// Null if there is none.
  std::shared_ptr<Program> take(const std::string &name);
  std::shared_ptr<Program> find(std::string_view name);

private:
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Program>, std::less<>> programs;
};

} // namespace cgx::xla

#endif // CGX_TOOLS_JAX_FFI_PROGRAM_H
