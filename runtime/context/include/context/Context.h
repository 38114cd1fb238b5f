//===-- context/Context.h - One rank of a job --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Context implements cgx_context: it holds the connection, the program, the counters, and the first
// failure. A failure ends the job: the transport tells all ranks, every later collective does nothing, and
// every later step reports the same failure.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_CONTEXT_CONTEXT_H
#define CGX_RUNTIME_CONTEXT_CONTEXT_H

#include "collective/ExplicitForm.h"
#include "cuda/DeviceUse.h"
#include "profile/Adaptation.h"
#include "progress/PendingOperations.h"

#include <memory>

namespace cgx {

class Context {
public:
  static Result<std::unique_ptr<Context>> create(const cgx_context_config &config, const TcpConfig &tcp = {});

  /// Gives the rank another program, between steps, on all ranks. The connection, the GPU and the state of
  /// codecs stay; counters and profiles start anew. If ranks differ, all of them return CGX_MISMATCH, and the
  /// job goes on as before.
  static Status adoptProgram(std::unique_ptr<Context> &context, const char *manifest);

  Status beginStep(uint64_t step);
  Status endStep();
  /// Returns OK, or the failure that ended the job.
  const Status &failureSoFar() const { return failure; }
  void abort(const std::string &reason);
  const char *telemetryJson();
  Status beginTrace();
  Status traceJson(const char **events);

  /// Allows buffers of collectives to lie on a GPU, which are used in the order of the stream.
  Status useCuda(cuda::Stream stream);
  /// Waits for the stream. An error in graphs that were replayed there is the job's failure.
  Status checkCuda();

  // Called between steps, on all ranks; see profile/Adaptation.h. The texts are JSON.
  Status beginProfile(const char *options);
  Status endProfile(const char **profile);
  Status adoptPlan(const char *plan);
  Status adapt(const char *request, const char **plan);

  /// Brings the state of codecs to the host, from wherever it is.
  Status fetchState();
  /// Returns the state that codecs keep from step to step, to be saved and restored between steps.
  std::span<const StateTensor> stateTensors() const { return state.tensors(); }

  /// Sends the bytes of all ranks to rank 0 or to all, between steps. Returns them by rank there, and nothing
  /// on the others. For a gather to all, every rank has the same number of bytes.
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, bool toAll);

  /// Records the first failure; later ones are its consequences.
  void fail(const Status &reason);

  uint32_t rank() const { return transport->rank(); }

  /// An optimizer tensor that a step binds, as the C ABI passes it.
  struct OptimizerTensor {
    int64_t kept, type, elements;
    const std::byte *data;
  };
  void bindOptimizerTensor(int64_t collective, int64_t operand, const OptimizerTensor &tensor);
  void nameOperand(int64_t collective, int64_t operand, const std::byte *input, std::byte *output);
  void run(int64_t collective);
  void start(int64_t collective);
  void wait(int64_t collective);

  // The calls of the explicit form. Buffers are laid out as in AllReduce.h.
  void compress(int64_t collective, int64_t operand, int64_t phase, const std::byte *input,
                std::byte *payload);
  void payloadAllToAll(int64_t collective, int64_t operand, const std::byte *whole, std::byte *slots);
  void decompressAccumulate(int64_t collective, int64_t operand, const std::byte *slots, std::byte *chunk);
  void payloadAllGather(int64_t collective, int64_t operand, const std::byte *payload, std::byte *whole);
  void decompress(int64_t collective, int64_t operand, const std::byte *whole, std::byte *tensor);

private:
  Context(Program program, std::shared_ptr<Transport> transport, std::chrono::milliseconds timeout,
          uint64_t seed);

  /// Returns the collective with that id; null if the step has failed. An unknown id fails the step.
  const CollectiveInfo *admit(int64_t collective);
  const Program &program() const { return codecs.program(); }
  size_t indexOf(const CollectiveInfo &info) const { return size_t(&info - program().collectives.data()); }
  /// Calls `body(execution)`, on the thread of the step or `beside` it.
  template <typename Body> Status execute(const CollectiveInfo &info, bool beside, Body body);
  /// Calls `body(execution)` on the thread of the step, after all pending collectives. A failure becomes the
  /// step's.
  template <typename Body> void executeNow(int64_t collective, Body body);
  /// Shows this rank's contribution to the profiler and the level learner.
  void observe(const CollectiveInfo &info, size_t operand, const std::byte *input);
  Status runNow(const CollectiveInfo &info, Buffers operands, bool beside);
  /// Takes the operands that were named. Returns OK, or what is missing, including tensors that their codecs
  /// read.
  Status takeNamed(const CollectiveInfo &info);
  /// Runs a call of the explicit form, or reports why it is none.
  void executeExplicit(int64_t collective, int64_t operand, Result<ExplicitCall> call,
                       const OperandBuffers &buffers);

  /// The time during which the step does not compute, as a scope.
  class ComputeGap;

  /// Calls `body(boundary)` if the ranks may communicate between steps now. A failure to do so is the job's
  /// failure.
  template <typename Body> Status meet(Body body);

  std::shared_ptr<Transport> transport; ///< shared only while another context takes this one's place
  CodecTable codecs;
  Telemetry telemetry;
  Scratch scratch;
  std::unique_ptr<DeviceUse> device; ///< null while buffers lie on the host
  ProgramState state;
  Adaptation adaptation;
  std::string json;     ///< the last text of telemetry
  std::string events;   ///< the last text of the trace
  std::string planning; ///< the last profile or plan
  std::chrono::milliseconds timeout;
  uint64_t seed;
  uint64_t step = 0;
  bool inStep = false;
  Status failure;
  std::vector<std::vector<OperandBuffers>> named; ///< by collective, in the program's order
  std::vector<std::vector<bool>> isNamed;
  uint64_t bytesBetweenSteps = 0; ///< bytes sent before the first step and between steps, not by the program
  std::unique_ptr<Trace> trace;
  TraceClock::time_point stepBegan, computesSince; ///< set if there is a trace
  PendingOperations pending;                       ///< last member, because it uses everything above
};

} // namespace cgx

#endif // CGX_RUNTIME_CONTEXT_CONTEXT_H
