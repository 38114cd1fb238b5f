//===-- context/Context.cpp - One rank of a job ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "context/Context.h"

#include "context/Gather.h"
#include "context/Handshake.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace cgx {

static TransportConfig transportConfig(const cgx_context_config &config) {
  TransportConfig result;
  result.job = config.job ? config.job : "";
  result.rank = config.rank;
  result.ranks = config.ranks;
  result.timeout = std::chrono::milliseconds(config.timeout_ms);
  result.ringBytes = config.ring_bytes;
  return result;
}

Context::Context(const cgx_context_config &config, Program program, std::unique_ptr<Transport> transport)
    : transport(std::move(transport)), program(std::move(program)), telemetry(this->program),
      state(this->program, config.rank), adaptation(this->program), timeout(config.timeout_ms),
      seed(config.seed) {
  for (const CollectiveInfo &info : this->program.collectives) {
    named.emplace_back(info.operands.size());
    isNamed.emplace_back(info.operands.size(), false);
  }
  handshakeBytes = this->transport->bytesSent();
}

Result<std::unique_ptr<Context>> Context::create(const cgx_context_config &config) {
  Program program;
  program.ranks = config.ranks;
  if (config.manifest) {
    Result<Program> parsed = Program::parse(config.manifest, config.ranks);
    if (!parsed.ok())
      return parsed.status();
    program = std::move(*parsed);
  }
  Result<std::unique_ptr<Transport>> transport =
      connectTransport(config.transport ? config.transport : "", transportConfig(config));
  if (!transport.ok())
    return transport.status();
  Status status = shakeHands(**transport, std::chrono::milliseconds(config.timeout_ms), config.abi_version,
                             config.seed, program);
  if (status.ok() && config.abi_version != CGX_ABI_VERSION)
    status = Status::error(CGX_MISMATCH, "expected a caller of ABI version ", CGX_ABI_VERSION, ", got ",
                           config.abi_version);
  if (!status.ok())
    return status;
  return std::unique_ptr<Context>(new Context(config, std::move(program), std::move(*transport)));
}

void Context::fail(const Status &reason) {
  if (!failure.ok())
    return;
  failure = reason;
  transport->fail(reason);
}

Status Context::beginStep(uint64_t newStep) {
  if (inStep)
    fail(Status::error(CGX_INVALID_ARGUMENT, "step ", newStep, " begins before step ", step, " has ended"));
  // That another rank has given up shows in the next collective, whose name the error then has.
  if (!failure.ok())
    return failure;
  step = newStep;
  state.beginStep();
  inStep = true;
  if (Profiler *profiler = adaptation.active())
    profiler->beginStep();
  return Status();
}

Status Context::endStep() {
  if (!inStep && failure.ok())
    fail(Status(CGX_INVALID_ARGUMENT, "a step ends that has not begun"));
  for (size_t i = 0; i < program.collectives.size(); ++i)
    if (failure.ok() && std::find(isNamed[i].begin(), isNamed[i].end(), true) != isNamed[i].end())
      fail(Status::error(CGX_INVALID_ARGUMENT, program.collectives[i].describe(),
                         ": operands were named, but it did not run"));
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

const char *Context::telemetryJson() {
  json = telemetry.toJson(program, transport->rank(), transport->bytesSent() - handshakeBytes);
  return json.c_str();
}

Result<std::vector<std::vector<std::byte>>> Context::gather(std::span<const std::byte> bytes) {
  if (!failure.ok())
    return failure;
  if (inStep)
    return Status::error(CGX_INVALID_ARGUMENT, "expected to gather between steps, not in step ", step);
  Result<std::vector<std::vector<std::byte>>> gathered = cgx::gather(*transport, timeout, step, bytes);
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
  Status status = body(Meeting{*transport, timeout, seed, step});
  handshakeBytes += transport->bytesSent() - before;
  // Plans that are refused or differ are so on all ranks alike, and nothing was changed.
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
  return meet([&](const Meeting &meeting) {
    Result<plan::Profile> measured = adaptation.end(meeting);
    if (measured.ok()) {
      planning = measured->toJson();
      *profile = planning.c_str();
    }
    return measured.status();
  });
}

Status Context::adoptPlan(const char *plan) {
  return meet([&](const Meeting &meeting) { return adaptation.adopt(meeting, plan); });
}

Status Context::adapt(const char *request, const char **plan) {
  return meet([&](const Meeting &meeting) {
    Result<std::string> adopted = adaptation.adapt(meeting, request);
    if (adopted.ok()) {
      planning = std::move(*adopted);
      *plan = planning.c_str();
    }
    return adopted.status();
  });
}

template <typename Body> void Context::execute(int64_t collective, Body body) {
  if (!failure.ok())
    return;
  const CollectiveInfo *info = program.find(collective);
  if (!info)
    return fail(
        Status::error(CGX_INVALID_ARGUMENT, "expected a collective of the program, got id ", collective));
  if (!inStep)
    return fail(Status::error(CGX_INVALID_ARGUMENT, info->describe(), ": called outside a step"));
  // A permutation names ranks, not positions.
  bool everybody = info->kind == CollectiveKind::Permute;
  Execution execution{.transport = *transport,
                      .timeout = timeout,
                      .collective = *info,
                      .group = everybody ? groupOfAll(transport->ranks(), transport->rank())
                                         : groupOf(info->groups, transport->rank()),
                      .seed = seed,
                      .step = step,
                      .scratch = scratch,
                      .states = state.operandsOf(size_t(info - program.collectives.data())),
                      .counters = telemetry.collectives[info - program.collectives.data()]};
  Status status;
  Profiler *profiler = adaptation.active();
  if (profiler)
    profiler->enterCollective(size_t(info - program.collectives.data()));
  try {
    scratch.reset();
    status = body(execution);
  } catch (const std::bad_alloc &) { // the one exception that the code under here can meet
    status = Status(CGX_RESOURCE_EXHAUSTED, "out of memory");
  }
  if (profiler)
    profiler->leaveCollective();
  if (!status.ok())
    fail(status.within(info->describe()));
}

template <typename Body> void Context::executeExplicit(int64_t collective, int64_t operand, Body body) {
  execute(collective, [&](Execution &execution) {
    if (execution.collective.kind != CollectiveKind::AllReduce)
      return Status(CGX_UNSUPPORTED, "only an all_reduce has an explicit form");
    if (adaptation.isChanged(size_t(&execution.collective - program.collectives.data())))
      return Status(CGX_UNSUPPORTED,
                    "a plan changed the codec of a collective in explicit form, whose buffers were "
                    "laid out by the compiler: compile it without decompose");
    if (operand < 0 || size_t(operand) >= execution.collective.operands.size())
      return Status::error(CGX_INVALID_ARGUMENT, "expected an operand below ",
                           execution.collective.operands.size(), ", got ", operand);
    if (execution.collective.operands[size_t(operand)].hasFactors())
      return Status(CGX_UNSUPPORTED, "lowrank has no payloads, and so no explicit form");
    return Status(body(execution, AllReduceOperand(execution, size_t(operand))));
  });
}

void Context::nameOperand(int64_t collective, int64_t operand, const std::byte *input, std::byte *output) {
  execute(collective, [&](Execution &execution) {
    size_t index = size_t(&execution.collective - program.collectives.data());
    if (operand < 0 || size_t(operand) >= named[index].size())
      return Status::error(CGX_INVALID_ARGUMENT, "expected an operand below ", named[index].size(), ", got ",
                           operand);
    if ((!input || !output) && execution.collective.operands[operand].elements != 0)
      return Status::error(CGX_INVALID_ARGUMENT, "operand ", operand, " has no buffer");
    named[index][operand] = {input, output};
    isNamed[index][operand] = true;
    return Status();
  });
}

void Context::run(int64_t collective) {
  execute(collective, [&](Execution &execution) {
    size_t index = size_t(&execution.collective - program.collectives.data());
    for (size_t i = 0; i < isNamed[index].size(); ++i)
      if (!isNamed[index][i])
        return Status::error(CGX_INVALID_ARGUMENT, "operand ", i, " was not named");
    isNamed[index].assign(isNamed[index].size(), false);
    // Before it runs: the result may take the place of the operand.
    if (Profiler *profiler = adaptation.active()) {
      Stopwatch stopwatch(telemetry.profiling);
      for (size_t i = 0; i < named[index].size(); ++i)
        profiler->observe(index, i, named[index][i].input);
    }
    Status status = runCollective(execution, named[index]);
    for (OperandState &operand : execution.states)
      ++operand.runs;
    return status;
  });
}

void Context::compress(int64_t collective, int64_t operand, int64_t phase, const std::byte *input,
                       std::byte *payload) {
  executeExplicit(collective, operand, [&](Execution &execution, const AllReduceOperand &reduced) {
    if (Profiler *profiler = adaptation.active(); profiler && phase == kContribution) {
      Stopwatch stopwatch(telemetry.profiling);
      profiler->observe(size_t(&execution.collective - program.collectives.data()), size_t(operand), input);
    }
    Stopwatch stopwatch(execution.counters.encode);
    if (phase == kContribution)
      reduced.compressContribution(input, payload);
    else if (phase == kResult)
      reduced.compressResult(input, payload);
    else
      return Status::error(CGX_INVALID_ARGUMENT, "expected phase 0 or 1, got ", phase);
    return Status();
  });
}

static void copyBytes(std::byte *output, const std::byte *input, uint64_t bytes) {
  if (bytes != 0 && output != input)
    std::memcpy(output, input, bytes);
}

void Context::payloadAllToAll(int64_t collective, int64_t operand, const std::byte *whole, std::byte *slots) {
  executeExplicit(collective, operand, [&](Execution &execution, const AllReduceOperand &reduced) {
    // One run of the collective is one for each of its operands.
    if (operand == 0)
      ++execution.counters.runs;
    execution.counters.operands[operand].rawBytes += reduced.rawBytes();
    copyBytes(slots + reduced.ownSlot(), whole + reduced.ownBegin(), reduced.ownPayload());
    Traffic traffic = reduced.scatterTraffic(whole, slots);
    return exchange(execution, {&traffic, 1}, kContribution, uint32_t(1 + operand), size_t(operand));
  });
}

void Context::decompressAccumulate(int64_t collective, int64_t operand, const std::byte *slots,
                                   std::byte *chunk) {
  executeExplicit(collective, operand, [&](Execution &execution, const AllReduceOperand &reduced) {
    Stopwatch stopwatch(execution.counters.decode);
    return reduced.reduceOwn(slots, chunk);
  });
}

void Context::payloadAllGather(int64_t collective, int64_t operand, const std::byte *payload,
                               std::byte *whole) {
  executeExplicit(collective, operand, [&](Execution &execution, const AllReduceOperand &reduced) {
    copyBytes(whole + reduced.ownBegin(), payload, reduced.ownPayload());
    ++execution.states[size_t(operand)].runs; // nothing is encoded behind this
    Traffic traffic = reduced.gatherTraffic(payload, whole);
    return exchange(execution, {&traffic, 1}, kResult, uint32_t(1 + operand), size_t(operand));
  });
}

void Context::decompress(int64_t collective, int64_t operand, const std::byte *whole, std::byte *tensor) {
  executeExplicit(collective, operand, [&](Execution &execution, const AllReduceOperand &reduced) {
    Stopwatch stopwatch(execution.counters.decode);
    return reduced.decompress(whole, tensor);
  });
}

} // namespace cgx
