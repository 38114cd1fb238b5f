//===-- context/Context.cpp - One rank of a job ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "context/Context.h"

#include "context/CompareConfigs.h"
#include "context/Gather.h"
#include "state/CarryOver.h"
#include "transport/kinds/TransportKinds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

namespace cgx {

static TransportConfig transportConfig(const cgx_context_config &config, const TcpConfig &tcp) {
  TransportConfig result;
  result.job = config.job ? config.job : "";
  result.rank = config.rank;
  result.ranks = config.ranks;
  result.timeout = std::chrono::milliseconds(config.timeout_ms);
  result.ringBytes = config.ring_bytes;
  result.hasHeartbeat = true;
  result.tcp = tcp;
  return result;
}

/// Returns the folder for files of message buffers; "" keeps them on the heap.
static std::string folderOfMessages() {
  const char *given = std::getenv("CGX_MESSAGES_IN");
  return given ? given : "";
}

Context::Context(Program program, std::shared_ptr<Transport> connection, std::chrono::milliseconds timeout,
                 uint64_t seed)
    : transport(std::move(connection)), codecs(std::move(program)), telemetry(codecs.program()),
      state(codecs.program(), transport->rank(), folderOfMessages()), adaptation(codecs), timeout(timeout),
      seed(seed), pending(*transport, codecs.program().collectives.size()) {
  for (const CollectiveInfo &info : codecs.program().collectives) {
    named.emplace_back(info.operands.size());
    isNamed.emplace_back(info.operands.size(), false);
  }
  bytesBetweenSteps = transport->bytesSent();
}

Result<std::unique_ptr<Context>> Context::create(const cgx_context_config &config, const TcpConfig &tcp) {
  Program program;
  program.ranks = config.ranks;
  if (config.manifest) {
    Result<Program> parsed = Program::parse(config.manifest, config.ranks);
    if (!parsed.ok())
      return parsed.status();
    program = std::move(*parsed);
  }
  Result<std::unique_ptr<Transport>> transport =
      connectTransport(config.transport ? config.transport : "", transportConfig(config, tcp));
  if (!transport.ok())
    return transport.status();
  Status status = compareConfigs(**transport, std::chrono::milliseconds(config.timeout_ms),
                                 {config.abi_version, config.seed, config.digest}, program);
  if (status.ok() && config.abi_version != CGX_ABI_VERSION)
    status = Status::error(CGX_MISMATCH, "expected a caller of ABI version ", CGX_ABI_VERSION, ", got ",
                           config.abi_version);
  if (!status.ok())
    return status;
  std::unique_ptr<Context> context(new Context(std::move(program), std::move(*transport),
                                               std::chrono::milliseconds(config.timeout_ms), config.seed));
  if (const Status &memory = context->state.status(); !memory.ok()) {
    context->fail(memory); // tells the other ranks
    return memory;
  }
  return context;
}

Status Context::adoptProgram(std::unique_ptr<Context> &context, const char *manifest) {
  if (!context->failure.ok())
    return context->failure;
  if (context->inStep)
    return Status::error(CGX_INVALID_ARGUMENT, "a program is adopted between steps, not in step ",
                         context->step);
  Transport &transport = *context->transport;
  Result<Program> program = Program::parse(manifest, transport.ranks());
  Status status =
      program.ok() ? compareConfigs(transport, context->timeout, {CGX_ABI_VERSION, context->seed}, *program)
                   : program.status();
  if (status.getCode() == CGX_MISMATCH)
    return status;
  if (status.ok())
    status = context->fetchState();
  if (!status.ok()) {
    context->fail(status); // the other ranks wait
    return status;
  }
  const std::optional<cuda::Stream> stream =
      context->device ? std::optional(context->device->hostStream()) : std::nullopt;
  const bool traces = context->trace != nullptr;
  std::unique_ptr<Context> next;
  try {
    next.reset(new Context(std::move(*program), context->transport, context->timeout, context->seed));
    next->step = context->step;
    status = next->state.status();
    if (status.ok())
      status = carryOver(context->state.tensors(), next->state.tensors());
  } catch (const std::bad_alloc &) {
    status = Status(CGX_RESOURCE_EXHAUSTED, "out of memory for the state of another program");
  }
  if (!status.ok()) {
    context->fail(status);
    return status;
  }
  context = std::move(next);
  if (stream)
    status = context->useCuda(*stream);
  if (status.ok() && traces)
    status = context->beginTrace();
  if (!status.ok())
    context->fail(status);
  return status;
}

class Context::ComputeGap {
public:
  explicit ComputeGap(Context &context) : context(context) {
    if (context.trace)
      context.trace->step.add(Activity::Compute, Timeline::kNone, context.computesSince, TraceClock::now());
  }
  ~ComputeGap() {
    if (context.trace)
      context.computesSince = TraceClock::now();
  }
  ComputeGap(const ComputeGap &) = delete;
  ComputeGap &operator=(const ComputeGap &) = delete;

private:
  Context &context;
};

void Context::fail(const Status &reason) {
  if (!failure.ok())
    return;
  failure = pending.any() ? pending.cancel(reason) : Status();
  if (failure.ok())
    failure = reason;
  pending.forget();
  transport->fail(failure);
  if (DeviceLink *link = transport->deviceLink())
    link->abort();
}

Status Context::beginStep(uint64_t newStep) {
  if (inStep)
    fail(Status::error(CGX_INVALID_ARGUMENT, "step ", newStep, " begins before step ", step, " has ended"));
  // A failure of another rank is reported by the next collective, whose name the error then has.
  if (!failure.ok())
    return failure;
  step = newStep;
  state.beginStep();
  inStep = true;
  stepBegan = computesSince = TraceClock::now();
  adaptation.beginStep(step);
  if (Profiler *profiler = adaptation.active())
    profiler->beginStep();
  return Status();
}

Status Context::endStep() {
  if (!inStep && failure.ok())
    fail(Status(CGX_INVALID_ARGUMENT, "a step ends that has not begun"));
  for (size_t i = 0; i < program().collectives.size() && failure.ok(); ++i) {
    if (std::find(isNamed[i].begin(), isNamed[i].end(), true) != isNamed[i].end())
      fail(Status::error(CGX_INVALID_ARGUMENT, program().collectives[i].describe(),
                         ": operands were named, but it did not run"));
    else if (pending.isPending(i))
      fail(Status::error(CGX_INVALID_ARGUMENT, program().collectives[i].describe(),
                         ": it was started, but the step did not wait for it"));
  }
  if (trace && inStep) {
    ComputeGap gap(*this);
    trace->step.add(Activity::Step, Timeline::kNone, stepBegan, TraceClock::now());
  }
  if (Profiler *profiler = adaptation.active(); profiler && inStep)
    profiler->endStep();
  inStep = false;
  if (failure.ok())
    ++telemetry.steps;
  return failure;
}

void Context::abort(const std::string &reason) {
  fail(Status(CGX_PEER_DIED, concat("rank ", transport->rank(), " aborted: ", reason)));
}

Status Context::beginTrace() {
  if (inStep)
    return Status(CGX_INVALID_ARGUMENT, "a trace begins between steps, not in one");
  trace = std::make_unique<Trace>();
  for (CollectiveCounters &counters : telemetry.collectives)
    counters.wait.timeline = &trace->step;
  return Status();
}

Status Context::traceJson(const char **text) {
  if (!trace)
    return Status(CGX_INVALID_ARGUMENT, "expected a trace that was begun");
  (void)pending.waitForAll();
  events = trace->toJson(program(), transport->rank());
  *text = events.c_str();
  return Status();
}

const char *Context::telemetryJson() {
  (void)pending.waitForAll(); // a failure is reported by the collective's own wait
  json = telemetry.toJson(program(), transport->rank(), transport->bytesSent() - bytesBetweenSteps);
  return json.c_str();
}

Result<std::vector<std::vector<std::byte>>> Context::gather(std::span<const std::byte> bytes, bool toAll) {
  if (!failure.ok())
    return failure;
  if (inStep)
    return Status::error(CGX_INVALID_ARGUMENT, "expected to gather between steps, not in step ", step);
  const uint64_t before = transport->bytesSent();
  Result<std::vector<std::vector<std::byte>>> gathered =
      toAll ? allGather(*transport, timeout, step, bytes) : cgx::gather(*transport, timeout, step, bytes);
  bytesBetweenSteps += transport->bytesSent() - before;
  if (!gathered.ok())
    fail(gathered.status());
  return gathered;
}

template <typename Body> Status Context::meet(Body body) {
  if (!failure.ok())
    return failure;
  if (inStep)
    return Status(CGX_INVALID_ARGUMENT, "profiles and plans are exchanged between steps, not in one");
  Stopwatch stopwatch(telemetry.profiling);
  uint64_t before = transport->bytesSent();
  Status status = body(StepBoundary{*transport, timeout, seed, step});
  bytesBetweenSteps += transport->bytesSent() - before;
  // All ranks reject a plan, or find that plans differ, alike, and nothing was changed: the job goes on.
  if (!status.ok() && status.getCode() != CGX_INVALID_ARGUMENT && status.getCode() != CGX_MISMATCH)
    fail(status);
  return status;
}

Status Context::beginProfile(const char *options) {
  if (inStep)
    return Status(CGX_INVALID_ARGUMENT, "a profile begins between steps, not in one");
  return adaptation.begin(options, telemetry.steps == 0 ? step : step + 1);
}

Status Context::endProfile(const char **profile) {
  return meet([&](const StepBoundary &boundary) {
    Result<plan::Profile> measured = adaptation.end(boundary);
    if (measured.ok()) {
      planning = measured->toJson();
      *profile = planning.c_str();
    }
    return measured.status();
  });
}

Status Context::adoptPlan(const char *plan) {
  return meet([&](const StepBoundary &boundary) { return adaptation.adopt(boundary, plan); });
}

Status Context::adapt(const char *request, const char **plan) {
  return meet([&](const StepBoundary &boundary) {
    Result<std::string> adopted = adaptation.adapt(boundary, request);
    if (adopted.ok()) {
      planning = std::move(*adopted);
      *plan = planning.c_str();
    }
    return adopted.status();
  });
}

const CollectiveInfo *Context::admit(int64_t collective) {
  if (!failure.ok())
    return nullptr;
  const CollectiveInfo *info = program().find(collective);
  if (!info)
    fail(Status::error(CGX_INVALID_ARGUMENT, "expected a collective of the program, got id ", collective));
  else if (!inStep)
    fail(Status::error(CGX_INVALID_ARGUMENT, info->describe(), ": called outside a step"));
  return failure.ok() ? info : nullptr;
}

template <typename Body> Status Context::execute(const CollectiveInfo &info, bool beside, Body body) {
  CollectiveCounters &counters = telemetry.collectives[indexOf(info)];
  counters.runsOn(!trace ? nullptr : beside ? &trace->progress : &trace->step);
  Stopwatch stopwatch(counters.total);
  // A permutation names ranks, not positions.
  const bool everybody = info.kind == CollectiveKind::Permute;
  const Group group =
      everybody ? groupOfAll(transport->ranks(), transport->rank()) : groupOf(info.groups, transport->rank());
  Execution execution{.transport = *transport,
                      .timeout = timeout,
                      .collective = info,
                      .group = group,
                      .seed = seed,
                      .step = step,
                      .scratch = scratch,
                      .states = state.operandsOf(indexOf(info)),
                      .counters = counters,
                      .encoder =
                          everybody ? placeInPermutation(info.pairs, transport->rank()) : group.position,
                      .device = device.get(),
                      .epoch = codecs.epochOf(indexOf(info))};
  if (info.decodesAgain) {
    execution.decoded = program().find(*info.decodesAgain);
    execution.decodedStates = state.operandsOf(indexOf(*execution.decoded));
  }
  Status status;
  try {
    scratch.reset();
    status = body(execution);
  } catch (const std::bad_alloc &) { // the only exception that `body` can throw
    status = Status(CGX_RESOURCE_EXHAUSTED, "out of memory");
  }
  return status.within(info.describe());
}

template <typename Body> void Context::executeNow(int64_t collective, Body body) {
  const CollectiveInfo *info = admit(collective);
  if (!info)
    return;
  ComputeGap gap(*this);
  Profiler *profiler = adaptation.active();
  if (profiler)
    profiler->enterCollective(indexOf(*info));
  TraceClock::time_point begin = TraceClock::now();
  Status status = pending.any() ? pending.waitForAll() : Status();
  if (status.ok())
    status = execute(*info, /*beside=*/false, body);
  telemetry.collectives[indexOf(*info)].wait.time += TraceClock::now() - begin;
  if (profiler)
    profiler->leaveCollective();
  if (!status.ok())
    fail(status);
}

/// Returns why a step may not bind this tensor to a layer; "" if it may. A value on a GPU is not waited for:
/// there, a learning rate that is not a number drops no bits.
static std::string rejectionOf(const Context::OptimizerTensor &tensor, const OperandInfo &layer,
                               bool isOnDevice) {
  if (tensor.kept < 0 || tensor.kept >= CGX_KEPT_COUNT)
    return concat("expected a tensor of an optimizer, 0 to ", CGX_KEPT_COUNT - 1, ", got ", tensor.kept);
  const bool isRate = tensor.kept == CGX_KEPT_LEARNING_RATE;
  if (isRate && tensor.type != CGX_F32)
    return concat("expected a learning rate in f32, got type ", tensor.type);
  if (tensor.type != CGX_F32 && tensor.type != CGX_F16 && tensor.type != CGX_BF16)
    return concat("expected what an optimizer keeps in f32, f16 or bf16, got type ", tensor.type);
  const uint64_t expected = cgx_kept_elements(uint32_t(tensor.kept), layer.elements);
  if (uint64_t(tensor.elements) != expected || (!tensor.data && expected != 0))
    return concat("expected ", isRate ? "one learning rate" : concat("a tensor of ", expected, " elements"),
                  ", got ", tensor.data ? tensor.elements : 0);
  float rate = 0.0f;
  if (isRate && !isOnDevice)
    std::memcpy(&rate, tensor.data, sizeof rate);
  return rate >= 0.0f && std::isfinite(rate) ? ""
                                             : concat("expected a learning rate of at least 0, got ", rate);
}

void Context::bindOptimizerTensor(int64_t collective, int64_t operand, const OptimizerTensor &tensor) {
  const CollectiveInfo *info = admit(collective);
  if (!info)
    return;
  auto reject = [&](auto... why) {
    fail(Status::error(CGX_INVALID_ARGUMENT, info->describe(), ": ", why...));
  };
  std::span<OperandState> states = state.operandsOf(indexOf(*info));
  if (operand < 0 || size_t(operand) >= states.size())
    return reject("expected an operand below ", states.size(), ", got ", operand);
  if (pending.isPending(indexOf(*info)))
    return reject("expected what an optimizer keeps before the collective is started");
  const OperandInfo &layer = info->operands[size_t(operand)];
  if (std::string wrong = rejectionOf(tensor, layer, device && isOnDevice(tensor.data)); !wrong.empty())
    return reject("layer '", layer.layer, "': ", wrong);
  states[size_t(operand)].kept[size_t(tensor.kept)] = {tensor.data, cgx_element_type(tensor.type)};
}

void Context::nameOperand(int64_t collective, int64_t operand, const std::byte *input, std::byte *output) {
  const CollectiveInfo *info = admit(collective);
  if (!info)
    return;
  size_t index = indexOf(*info);
  if (operand < 0 || size_t(operand) >= named[index].size())
    return fail(Status::error(CGX_INVALID_ARGUMENT, info->describe(), ": expected an operand below ",
                              named[index].size(), ", got ", operand));
  if ((!input || !output) && info->operands[operand].elements != 0)
    return fail(
        Status::error(CGX_INVALID_ARGUMENT, info->describe(), ": operand ", operand, " has no buffer"));
  named[index][operand] = {input, output};
  isNamed[index][operand] = true;
}

/// Returns OK if the step has bound all tensors that codecs read.
static Status checkBound(const CollectiveInfo &info, std::span<const OperandState> states) {
  constexpr const char *names[] = {"parameter", "first moment", "second moment", "learning rate"};
  for (size_t i = 0; i < states.size(); ++i)
    for (uint32_t kept = 0; kept < CGX_KEPT_COUNT; ++kept)
      if (info.operands[i].needs(kept) && info.operands[i].elements != 0 && !states[i].kept[kept].elements)
        return Status::error(CGX_INVALID_ARGUMENT, info.describe(), ": layer '", info.operands[i].layer,
                             "': expected the step to provide the ", names[kept], ", which its codec reads");
  return Status();
}

Status Context::takeNamed(const CollectiveInfo &info) {
  std::vector<bool> &isThere = isNamed[indexOf(info)];
  for (size_t i = 0; i < isThere.size(); ++i)
    if (!isThere[i])
      return Status::error(CGX_INVALID_ARGUMENT, info.describe(), ": operand ", i, " was not named");
  isThere.assign(isThere.size(), false);
  return checkBound(info, state.operandsOf(indexOf(info)));
}

void Context::observe(const CollectiveInfo &info, size_t operand, const std::byte *input) {
  Profiler *profiler = adaptation.active();
  LevelLearner *levels = adaptation.learning();
  if (!profiler && !levels)
    return;
  Stopwatch stopwatch(telemetry.profiling);
  if (profiler)
    profiler->observe(indexOf(info), operand, input);
  if (levels)
    levels->observe(indexOf(info), operand, input);
}

Status Context::runNow(const CollectiveInfo &info, Buffers operands, bool beside) {
  return execute(info, beside, [&](Execution &execution) {
    // This happens before the collective runs, because the result may replace the operand.
    if (!(device && DeviceUse::isNeededFor(operands)))
      for (size_t i = 0; i < operands.size(); ++i)
        observe(info, i, operands[i].input);
    Status status = runCollective(execution, operands);
    for (OperandState &operand : execution.states)
      ++operand.runs;
    return status;
  });
}

Status Context::useCuda(cuda::Stream stream) {
  if (inStep)
    return Status(CGX_INVALID_ARGUMENT, "expected a GPU to be named between steps, got one within a step");
  if (cuda::Outcome outcome = cuda::availability(); !outcome.ok())
    return Status(CGX_UNSUPPORTED, outcome.error);
  // The state that codecs keep on the last GPU is carried over.
  if (Status status = fetchState(); !status.ok())
    return status;
  device = std::make_unique<DeviceUse>(stream, *transport, timeout);
  return Status();
}

Status Context::checkCuda() {
  if (!device || inStep)
    return Status(CGX_INVALID_ARGUMENT, "a GPU is checked between steps, once it was named");
  if (failure.ok())
    if (Status status = device->check(program()); !status.ok())
      fail(status);
  return failure;
}

Status Context::fetchState() {
  if (!device || !failure.ok())
    return Status(); // a job that has failed needs no state any more
  if (Status status = pending.waitForAll(); !status.ok())
    return status;
  return device->fetchState();
}

void Context::run(int64_t collective) {
  // The collective runs after all pending ones, on the same thread, which is using the transport.
  if (pending.any()) {
    start(collective);
    return wait(collective);
  }
  const CollectiveInfo *info = admit(collective);
  if (!info)
    return;
  if (Status status = takeNamed(*info); !status.ok())
    return fail(status);
  ComputeGap gap(*this);
  Profiler *profiler = adaptation.active();
  if (profiler)
    profiler->enterCollective(indexOf(*info));
  TraceClock::time_point begin = TraceClock::now();
  Status status = runNow(*info, named[indexOf(*info)], /*beside=*/false);
  telemetry.collectives[indexOf(*info)].wait.time += TraceClock::now() - begin;
  if (profiler)
    profiler->leaveCollective();
  if (!status.ok())
    fail(status);
}

void Context::start(int64_t collective) {
  const CollectiveInfo *info = admit(collective);
  if (!info)
    return;
  size_t index = indexOf(*info);
  if (pending.isPending(index))
    return fail(Status::error(CGX_INVALID_ARGUMENT, info->describe(),
                              ": it is started again, but the step did not wait for it"));
  if (Status status = takeNamed(*info); !status.ok())
    return fail(status);
  if (device && DeviceUse::isNeededFor(named[index]))
    if (Status status = device->start(info->id); !status.ok())
      return fail(status);
  // The operands are ready here; the step goes on with its work.
  if (Profiler *profiler = adaptation.active()) {
    profiler->enterCollective(index);
    profiler->leaveCollective();
  }
  pending.start(
      index, [this, info, operands = named[index]](bool beside) { return runNow(*info, operands, beside); });
}

void Context::wait(int64_t collective) {
  const CollectiveInfo *info = admit(collective);
  if (!info)
    return;
  size_t index = indexOf(*info);
  if (!pending.isPending(index))
    return fail(Status::error(CGX_INVALID_ARGUMENT, info->describe(),
                              ": the step waits for it, but did not start it"));
  ComputeGap gap(*this);
  Profiler *profiler = adaptation.active();
  if (profiler)
    profiler->enterCollective(index);
  Status status;
  {
    Stopwatch stopwatch(telemetry.collectives[index].wait);
    status = pending.wait(index);
  }
  if (profiler)
    profiler->leaveCollective();
  if (!status.ok())
    fail(status);
}

void Context::executeExplicit(int64_t collective, int64_t operand, Result<ExplicitCall> call,
                              const OperandBuffers &buffers) {
  executeNow(collective, [&](Execution &execution) {
    const CollectiveInfo &info = execution.collective;
    if (info.kind != CollectiveKind::AllReduce)
      return Status(CGX_UNSUPPORTED, "only an all_reduce has an explicit form");
    if (!codecs.isAsCompiled(indexOf(info)))
      return Status(CGX_UNSUPPORTED,
                    "a plan changed the codec of a collective in explicit form, whose buffers were "
                    "laid out by the compiler: compile it without decompose");
    if (operand < 0 || size_t(operand) >= info.operands.size())
      return Status::error(CGX_INVALID_ARGUMENT, "expected an operand below ", info.operands.size(), ", got ",
                           operand);
    if (const OperandInfo &layer = info.operands[size_t(operand)];
        layer.hasFactors() || layer.returnCodec || layer.needs(CGX_KEPT_PARAMETER))
      return Status(CGX_UNSUPPORTED, "codecs without payloads, with another way back, or that read what an "
                                     "optimizer keeps have no explicit form");
    if (!call.ok())
      return call.status();
    if (*call == ExplicitCall::CompressContribution && !(device && isOnDevice(buffers.input)))
      observe(info, size_t(operand), buffers.input);
    return runExplicit(execution, {*call, size_t(operand), buffers});
  });
}

static Result<ExplicitCall> compressOf(int64_t phase) {
  if (phase == kContribution)
    return ExplicitCall::CompressContribution;
  if (phase == kResult)
    return ExplicitCall::CompressResult;
  return Status::error(CGX_INVALID_ARGUMENT, "expected phase 0 or 1, got ", phase);
}

void Context::compress(int64_t collective, int64_t operand, int64_t phase, const std::byte *input,
                       std::byte *payload) {
  executeExplicit(collective, operand, compressOf(phase), {input, payload});
}

void Context::payloadAllToAll(int64_t collective, int64_t operand, const std::byte *whole, std::byte *slots) {
  executeExplicit(collective, operand, ExplicitCall::PayloadAllToAll, {whole, slots});
}

void Context::decompressAccumulate(int64_t collective, int64_t operand, const std::byte *slots,
                                   std::byte *chunk) {
  executeExplicit(collective, operand, ExplicitCall::DecompressAccumulate, {slots, chunk});
}

void Context::payloadAllGather(int64_t collective, int64_t operand, const std::byte *payload,
                               std::byte *whole) {
  executeExplicit(collective, operand, ExplicitCall::PayloadAllGather, {payload, whole});
}

void Context::decompress(int64_t collective, int64_t operand, const std::byte *whole, std::byte *tensor) {
  executeExplicit(collective, operand, ExplicitCall::Decompress, {whole, tensor});
}

} // namespace cgx
