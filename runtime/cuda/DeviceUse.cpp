//===-- DeviceUse.cpp - Collectives of buffers in the memory of a GPU -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceUse.h"

#include "cgx/kernels/cuda_peers.h"
#include "cuda/DeviceAllReduce.h"
#include "cuda/KeptMemory.h"
#include "cuda/LinkedCollective.h"
#include "cuda/StreamWait.h"

#include <algorithm>

namespace cgx {

Status statusOf(const cuda::Outcome &outcome) {
  return outcome.ok() ? Status() : Status(CGX_RESOURCE_EXHAUSTED, outcome.error);
}

DeviceUse::DeviceUse(cuda::Stream stream) : stream(stream) {
  (void)cuda::currentDevice(gpu).ok(); // where there is none, what follows says so
}

DeviceUse::~DeviceUse() {
  if (failed) {
    keepUntilExit(std::move(allReduces));
    keepUntilExit(std::move(staging));
  } else if (side) {
    cuda::destroyStream(side);
  }
}

static bool isOnDevice(const void *pointer) {
  return cuda::memoryKindOf(pointer) == cuda::MemoryKind::device;
}

bool DeviceUse::isNeededFor(Buffers operands) {
  return std::any_of(operands.begin(), operands.end(), [](const OperandBuffers &operand) {
    return isOnDevice(operand.input) || isOnDevice(operand.output);
  });
}

Status DeviceUse::start(uint32_t collective) {
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
  // Threads have GPUs of their own, and the one that makes progress is not the step's.
  Status status = statusOf(cuda::useDevice(gpu));
  if (!status.ok())
    return status;
  Result<cuda::Stream> on = streamFor(execution.collective.id);
  status = on.ok() ? runOn(*on, execution, operands) : on.status();
  failed = failed || !status.ok();
  return status;
}

Status DeviceUse::runOn(cuda::Stream on, Execution &execution, Buffers operands) {
  const bool isCaptured = cuda::isCapturing(on);
  DeviceAllReduce *encoded = nullptr;
  const bool isEncoded = !isLinked(execution, operands) && DeviceAllReduce::takes(execution, operands);
  if (!isEncoded && !isCaptured)
    if (Status status = leave(execution.collective.id); !status.ok())
      return status;
  Status status;
  if (isLinked(execution, operands)) {
    status = putLinked(execution, operands, on);
  } else if (isEncoded) {
    Result<DeviceAllReduce *> found = allReduceFor(execution, isCaptured);
    if (!found.ok())
      return found.status();
    encoded = *found;
    status = encoded->put(execution, operands, on);
  } else if (isCaptured) {
    return Status(CGX_UNSUPPORTED, "it passes through the host, which a graph cannot repeat");
  } else {
    return runStaged(on, execution, operands);
  }
  if (!status.ok() || isCaptured)
    return status;
  Stopwatch stopwatch(encoded ? execution.counters.decode : execution.counters.exchange);
  status = waitForStream(execution.transport, execution.timeout, on);
  return status.ok() && encoded ? encoded->check(execution.collective, on) : status;
}

Result<DeviceAllReduce *> DeviceUse::allReduceFor(const Execution &execution, bool isCaptured) {
  auto known = allReduces.find(execution.collective.id);
  if (known != allReduces.end() && known->second->isOf(execution))
    return known->second.get();
  if (isCaptured)
    return Status(CGX_UNSUPPORTED, "expected a collective that has run before in a graph");
  if (Status status = leave(execution.collective.id); !status.ok())
    return status;
  Result<std::unique_ptr<DeviceAllReduce>> made = DeviceAllReduce::make(execution, stream);
  if (!made.ok())
    return made.status();
  return (allReduces[execution.collective.id] = std::move(*made)).get();
}

Status DeviceUse::leave(uint32_t collective) {
  auto known = allReduces.find(collective);
  if (known == allReduces.end())
    return Status();
  Status status = statusOf(cuda::useDevice(gpu));
  if (status.ok())
    status = known->second->fetchState(stream);
  allReduces.erase(known);
  return status;
}

Status DeviceUse::fetchState() {
  if (Status status = statusOf(cuda::useDevice(gpu)); !status.ok())
    return status;
  for (const auto &[id, allReduce] : allReduces)
    if (Status status = allReduce->fetchState(stream); !status.ok())
      return status;
  return Status();
}

Status DeviceUse::check(Transport &transport, std::chrono::milliseconds timeout, const Program &program) {
  if (Status status = statusOf(cuda::useDevice(gpu)); !status.ok())
    return status;
  if (Status status = waitForStream(transport, timeout, stream); !status.ok()) {
    failed = true;
    return status;
  }
  for (const auto &[id, allReduce] : allReduces) {
    const CollectiveInfo &collective = *program.find(id);
    if (Status status = allReduce->check(collective, stream); !status.ok())
      return status.within(collective.describe());
  }
  return Status();
}

/// Elements that come out of a collective for an operand.
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
  if (Status status = waitForStream(execution.transport, execution.timeout, on); !status.ok())
    return status;
  if (Status status = runOnHost(execution, staged); !status.ok())
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
