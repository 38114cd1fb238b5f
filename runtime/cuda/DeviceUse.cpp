//===-- DeviceUse.cpp - Collectives of buffers in the memory of a GPU -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceUse.h"

#include "cgx/kernels/cuda_peers.h"
#include "collective/RawBytes.h"
#include "cuda/algorithm/DeviceExplicitForm.h"
#include "cuda/algorithm/LibraryCollective.h"
#include "cuda/algorithm/ResidentCollective.h"
#include "cuda/stream/KeptMemory.h"
#include "cuda/stream/StreamWait.h"

#include <algorithm>
#include <cstring>

namespace cgx {

DeviceUse::DeviceUse(cuda::Stream stream, Transport &transport, std::chrono::milliseconds timeout)
    : transport(transport), timeout(timeout), stream(stream),
      explicitForm(std::make_unique<DeviceExplicitForm>()) {
  (void)cuda::currentDevice(gpu).ok(); // if there is none, later calls report it
}

DeviceUse::~DeviceUse() {
  if (failed) {
    keepUntilExit(std::move(residents));
    keepUntilExit(std::move(staging));
    keepUntilExit(std::move(bound));
    keepUntilExit(std::move(explicitForm));
  } else if (side) {
    cuda::destroyStream(side);
  }
}

bool DeviceUse::isNeededFor(Buffers operands) {
  return std::any_of(operands.begin(), operands.end(), [](const OperandBuffers &operand) {
    return isOnDevice(operand.input) || isOnDevice(operand.output);
  });
}

/// Returns true if everything that a collective reads and writes lies on a GPU.
static bool areOnDevice(Buffers operands) {
  return std::all_of(operands.begin(), operands.end(), [](const OperandBuffers &operand) {
    return isOnDevice(operand.input) && isOnDevice(operand.output);
  });
}

bool DeviceUse::isNeededFor(const Execution &execution, Buffers operands) const {
  return isNeededFor(operands) || BoundTensors::areOnDevice(execution);
}

Status DeviceUse::start(uint32_t collective) {
  if (Status status = statusOf(cuda::useDevice(gpu)); !status.ok())
    return status;
  if (cuda::isCapturing(stream))
    return Status(CGX_UNSUPPORTED, "a graph holds nothing that runs beside the step: expected cgx_rt_run");
  const std::lock_guard lock(starting);
  Start &started = starts[collective];
  if (!started.event.get())
    if (Status status = statusOf(started.event.make()); !status.ok())
      return status;
  started.isPending = true;
  return statusOf(started.event.record(stream));
}

Result<cuda::Stream> DeviceUse::streamFor(uint32_t collective) {
  const std::lock_guard lock(starting);
  auto started = starts.find(collective);
  if (started == starts.end() || !started->second.isPending)
    return stream;
  started->second.isPending = false;
  if (!side)
    if (Status status = statusOf(cuda::makeStream(side)); !status.ok())
      return status;
  if (Status status = statusOf(cuda::waitOn(side, started->second.event.get())); !status.ok())
    return status;
  return side;
}

Status DeviceUse::run(Execution &execution, Buffers operands) {
  // Each thread has a current GPU of its own, and the progress thread is not the step's.
  Status status = statusOf(cuda::useDevice(gpu));
  if (!status.ok())
    return status;
  Result<cuda::Stream> on = streamFor(execution.collective.id);
  status = on.ok() ? runOn(*on, execution, operands) : on.status();
  failed = failed || !status.ok();
  return status;
}

Status DeviceUse::runExplicit(Execution &execution, const ExplicitStep &step) {
  const uint32_t id = execution.collective.id;
  Status status;
  if (isNeededFor({&step.buffers, 1}) || explicitForm->knows(id)) {
    if (cuda::isCapturing(stream))
      return Status(CGX_UNSUPPORTED, "the explicit form waits for the stream, which a graph cannot repeat");
    status = statusOf(cuda::useDevice(gpu));
  }
  if (status.ok() && residents.contains({id, /*run=*/0}))
    status = leave(id);
  if (status.ok())
    status = explicitForm->run(execution, step, stream);
  failed = failed || !status.ok();
  return status;
}

/// Returns true if the result is the operand, because there is nobody to exchange with.
static bool isAlone(const Execution &execution) {
  return execution.group.size() == 1 && execution.collective.kind != CollectiveKind::Permute;
}

static Status putAlone(const Execution &execution, Buffers operands, cuda::Stream stream) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandInfo &operand = execution.collective.operands[i];
    if (operands[i].input != operands[i].output)
      if (Status status = statusOf(cuda::copy(operands[i].output, operands[i].input,
                                              operand.elements * cgx_element_bytes(operand.type), stream));
          !status.ok())
        return status;
  }
  return Status();
}

Status DeviceUse::runOn(cuda::Stream on, Execution &execution, Buffers operands) {
  const bool isCaptured = cuda::isCapturing(on), isByLink = isLinked(execution, operands);
  const bool isResident = !isByLink && areOnDevice(operands) && canBeResident(execution);
  if (!isResident && !isCaptured)
    if (Status status = leave(execution.collective.id); !status.ok())
      return status;
  ResidentCollective *resident = nullptr;
  Status status;
  if (isByLink) {
    status = putLinked(execution, operands, on);
  } else if (isResident) {
    Result<ResidentCollective *> found = residentFor(execution, isCaptured, on);
    if (!found.ok())
      return found.status();
    resident = *found;
    countRawBytes(execution);
    status = resident->put(execution, operands, on);
  } else if (isAlone(execution)) {
    status = putAlone(execution, operands, on);
  } else if (isCaptured) {
    return Status(CGX_UNSUPPORTED, "it passes through the host, which a graph cannot repeat");
  } else {
    return runStaged(on, execution, operands);
  }
  if (!status.ok() || isCaptured)
    return status;
  Stopwatch stopwatch(resident ? execution.counters.decode : execution.counters.exchange);
  status = waitForStream(execution.transport, execution.timeout, on);
  if (status.ok() && resident)
    status = resident->finish(execution);
  return status.ok() && resident ? resident->check(execution.collective, on) : status;
}

Result<ResidentCollective *> DeviceUse::residentFor(const Execution &execution, bool isCaptured,
                                                    cuda::Stream on) {
  const std::pair id(execution.collective.id, execution.collective.firstRunLike(execution.run()));
  auto known = residents.find(id);
  const bool isKnown = known != residents.end() && known->second.epoch == execution.epoch;
  if (isCaptured && !isKnown)
    return Status(CGX_UNSUPPORTED, "expected a collective that has run before in a graph");
  if (isCaptured && !known->second.collective->isCapturable())
    return Status(CGX_UNSUPPORTED,
                  "payloads pass through the host, which a graph cannot repeat: expected the "
                  "transport nccl");
  if (isKnown) {
    known->second.isInGraph |= isCaptured;
    return known->second.collective.get();
  }
  // Kernels made for other pairs stay: this collective needs nothing of their state.
  if (known != residents.end() || execution.collective.pairsOfRuns.empty())
    if (Status status = leave(id.first); !status.ok())
      return status;
  Result<std::unique_ptr<ResidentCollective>> made = makeResident(execution, on);
  if (!made.ok())
    return made.status();
  Resident &resident = residents[id] = {execution.epoch, std::move(*made)};
  return resident.collective.get();
}

Status DeviceUse::leave(uint32_t collective) {
  auto known = residents.lower_bound({collective, /*run=*/0});
  const auto isOne = [&] { return known != residents.end() && known->first.first == collective; };
  if (!isOne() && !explicitForm->knows(collective))
    return Status();
  Status status = reach();
  while (isOne()) {
    if (status.ok())
      status = known->second.collective->fetchState(stream);
    if (known->second.isInGraph || !status.ok())
      keepUntilExit(std::move(known->second));
    known = residents.erase(known);
  }
  return status.ok() ? explicitForm->leave(collective, stream) : status;
}

/// Waits for work on the stream, such as graphs.
Status DeviceUse::reach() {
  Status status = statusOf(cuda::useDevice(gpu));
  if (status.ok())
    status = waitForStream(transport, timeout, stream);
  failed = failed || !status.ok();
  return status;
}

Status DeviceUse::fetchState() {
  if (Status status = reach(); !status.ok())
    return status;
  for (const auto &[id, resident] : residents)
    if (Status status = resident.collective->fetchState(stream); !status.ok())
      return status;
  return explicitForm->fetchState(stream);
}

Status DeviceUse::check(const Program &program) {
  if (Status status = reach(); !status.ok())
    return status;
  for (const auto &[id, resident] : residents) {
    const CollectiveInfo &collective = *program.find(id.first);
    if (Status status = resident.collective->check(collective, stream); !status.ok())
      return status.within(collective.describe());
  }
  return Status();
}

/// Returns the number of elements that a collective outputs for an operand.
static uint64_t outputElements(const Execution &execution, const OperandInfo &operand) {
  switch (execution.collective.kind) {
  case CollectiveKind::AllGather:
    return operand.elements * execution.group.size();
  case CollectiveKind::ReduceScatter:
    return operand.elements / execution.group.size();
  default:
    return operand.elements;
  }
}

/// Runs on the host, where codecs read the tensors that were brought there.
static Status runReading(const BoundTensors &bound, Execution &execution, Buffers operands) {
  std::vector<std::array<KeptTensor, CGX_KEPT_COUNT>> given;
  for (size_t i = 0; i < operands.size(); ++i)
    given.push_back(std::exchange(execution.states[i].kept, bound.of(i).kept));
  Status status = runOnHost(execution, operands);
  for (size_t i = 0; i < operands.size(); ++i)
    execution.states[i].kept = given[i];
  return status;
}

Status DeviceUse::runStaged(cuda::Stream on, Execution &execution, Buffers operands) {
  std::vector<OperandBuffers> staged;
  staging.resize(std::max(staging.size(), operands.size()));
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandInfo &operand = execution.collective.operands[i];
    const uint64_t size = cgx_element_bytes(operand.type), input = operand.elements * size,
                   output = outputElements(execution, operand) * size;
    const uint64_t outputBegin = (input + 63) / 64 * 64;
    if (staging[i].bytes() < outputBegin + output)
      if (Status status = statusOf(staging[i].allocate(cuda::MemoryKind::pinned, outputBegin + output));
          !status.ok())
        return status;
    auto *memory = staging[i].get<std::byte>();
    if (Status status = statusOf(cuda::copy(memory, operands[i].input, input, on)); !status.ok())
      return status;
    staged.push_back({memory, memory + outputBegin});
  }
  if (Result<bool> brought = bound.bring(execution, /*toDevice=*/false, on); !brought.ok())
    return brought.status();
  if (Status status = waitForStream(execution.transport, execution.timeout, on); !status.ok())
    return status;
  if (Status status = runReading(bound, execution, staged); !status.ok())
    return status;
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandInfo &operand = execution.collective.operands[i];
    if (Status status =
            statusOf(cuda::copy(operands[i].output, staged[i].output,
                                outputElements(execution, operand) * cgx_element_bytes(operand.type), on));
        !status.ok())
      return status;
  }
  return waitForStream(execution.transport, execution.timeout, on);
}

} // namespace cgx
