//===-- context/Context.h - One rank of a job --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is behind a cgx_context: the connection, the program, the counters, and the
// first failure. A failure ends the job: the transport tells all ranks, every later
// collective does nothing, and every later step reports the same failure.
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

  /// The same rank with another program, between steps, on all ranks: the connection, the GPU and what codecs
  /// remember go on, counters and profiles begin anew. Where ranks differ, that is CGX_MISMATCH on all of
  /// them, and the job goes on as before.
  static Status adoptProgram(std::unique_ptr<Context> &context, const char *manifest);

  Status beginStep(uint64_t step);
  Status endStep();
  /// OK, or what ended the job.
  const Status &failureSoFar() const { return failure; }
  void abort(const std::string &reason);
  const char *telemetryJson();
  Status beginTrace();
  Status traceJson(const char **events);

  /// Buffers of collectives may lie on a GPU from now on, and are used in the order of the stream.
  Status useCuda(cuda::Stream stream);
  /// Waits for the stream; what went wrong in graphs that were replayed there is the job's failure.
  Status checkCuda();

  // Between steps, on all ranks; see profile/Adaptation.h. The texts are JSON.
  Status beginProfile(const char *options);
  Status endProfile(const char **profile);
  Status adoptPlan(const char *plan);
  Status adapt(const char *request, const char **plan);

  /// Brings what codecs remember to the host, from wherever it is.
  Status fetchState();
  /// What codecs remember from step to step, to be saved and written back between steps.
  std::span<const StateTensor> stateTensors() const { return state.tensors(); }

  /// Hands the bytes of all ranks to rank 0 or to all, between steps: the result by rank there, nothing on
  /// the others. To all, every rank has as many.
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, bool toAll);

  /// The first failure stays; the others are its consequences.
  void fail(const Status &reason);

  uint32_t rank() const { return transport->rank(); }

  /// What a step lends of its optimizer's tensors, as the C ABI has it.
  struct LentTensor {
    int64_t kept, type, elements;
    const std::byte *data;
  };
  void provide(int64_t collective, int64_t operand, const LentTensor &tensor);
  void nameOperand(int64_t collective, int64_t operand, const std::byte *input, std::byte *output);
  void run(int64_t collective);
  void start(int64_t collective);
  void wait(int64_t collective);

  // The explicit form. Buffers are laid out as in AllReduce.h.
  void compress(int64_t collective, int64_t operand, int64_t phase, const std::byte *input,
                std::byte *payload);
  void payloadAllToAll(int64_t collective, int64_t operand, const std::byte *whole, std::byte *slots);
  void decompressAccumulate(int64_t collective, int64_t operand, const std::byte *slots, std::byte *chunk);
  void payloadAllGather(int64_t collective, int64_t operand, const std::byte *payload, std::byte *whole);
  void decompress(int64_t collective, int64_t operand, const std::byte *whole, std::byte *tensor);

private:
  Context(Program program, std::shared_ptr<Transport> transport, std::chrono::milliseconds timeout,
          uint64_t seed);

  /// The collective with that id, unless the step has failed: also if there is none, which fails it.
  const CollectiveInfo *admit(int64_t collective);
  const Program &program() const { return codecs.program(); }
  size_t indexOf(const CollectiveInfo &info) const { return size_t(&info - program().collectives.data()); }
  /// Calls `body(execution)`, on the thread of the step or `beside` it.
  template <typename Body> Status execute(const CollectiveInfo &info, bool beside, Body body);
  /// The same on the thread of the step, behind what is in flight; failures become the step's.
  template <typename Body> void executeNow(int64_t collective, Body body);
  /// What this rank contributes, for what is measured and learned.
  void observe(const CollectiveInfo &info, size_t operand, const std::byte *input);
  Status runNow(const CollectiveInfo &info, Buffers operands, bool beside);
  /// Takes the operands that were named; OK, or what is missing, of what their codecs need as well.
  Status takeNamed(const CollectiveInfo &info);
  /// A call of the explicit form, or why it is none.
  void executeExplicit(int64_t collective, int64_t operand, Result<ExplicitCall> call,
                       const OperandBuffers &buffers);

  /// While it lives, the step does not compute.
  class Pause;

  /// Calls `body(boundary)` if the ranks may meet now. That they could not is the job's failure.
  template <typename Body> Status meet(Body body);

  std::shared_ptr<Transport> transport; ///< a context's alone, but while another one takes its place
  CodecTable codecs;
  Telemetry telemetry;
  Scratch scratch;
  std::unique_ptr<DeviceUse> device; ///< null while buffers are of the host
  ProgramState state;
  Adaptation adaptation;
  std::string json;     ///< of telemetry
  std::string events;   ///< of the trace
  std::string planning; ///< the last profile or plan
  std::chrono::milliseconds timeout;
  uint64_t seed;
  uint64_t step = 0;
  bool inStep = false;
  Status failure;
  std::vector<std::vector<OperandBuffers>> named; ///< per collective, in the program's order
  std::vector<std::vector<bool>> isNamed;
  uint64_t handshakeBytes = 0; ///< sent before the first step and between steps, not the program's
  std::unique_ptr<Trace> trace;
  TraceClock::time_point stepBegan, computesSince; ///< where there is a trace
  PendingOperations pending;                       ///< last: it uses everything above
};

} // namespace cgx

#endif // CGX_RUNTIME_CONTEXT_CONTEXT_H
