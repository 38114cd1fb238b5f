//===-- DeviceUse.cpp - Collectives of buffers in the memory of a GPU -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/DeviceUse.h"

#include "cuda/DeviceAllReduce.h"

#include <algorithm>

namespace cgx {

Status statusOf(const cuda::Outcome &outcome) {
  return outcome.ok() ? Status() : Status(CGX_RESOURCE_EXHAUSTED, outcome.error);
}

DeviceUse::DeviceUse(cuda::Stream stream) : stream(stream) {}
DeviceUse::~DeviceUse() = default;

static bool isOnDevice(const void *pointer) {
  return cuda::memoryKindOf(pointer) == cuda::MemoryKind::device;
}

bool DeviceUse::isNeededFor(Buffers operands) {
  return std::any_of(operands.begin(), operands.end(), [](const OperandBuffers &operand) {
    return isOnDevice(operand.input) || isOnDevice(operand.output);
  });
}

Status DeviceUse::run(Execution &execution, Buffers operands) {
  if (!DeviceAllReduce::takes(execution, operands))
    return runStaged(execution, operands);
  std::unique_ptr<DeviceAllReduce> &known = allReduces[execution.collective.id];
  if (!known || !known->isOf(execution, operands)) {
    auto made = std::make_unique<DeviceAllReduce>(stream);
    if (Status status = made->prepare(execution, operands); !status.ok())
      return status;
    known = std::move(made);
  }
  return known->run(execution);
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

Status DeviceUse::runStaged(Execution &execution, Buffers operands) {
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
    if (Status status = statusOf(cuda::copy(memory, operands[i].input, input, stream)); !status.ok())
      return status;
    staged.push_back({memory, memory + outputBegin});
  }
  if (Status status = statusOf(cuda::waitFor(stream)); !status.ok())
    return status;
  if (Status status = runOnHost(execution, staged); !status.ok())
    return status;
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandInfo &operand = execution.collective.operands[i];
    if (Status status = statusOf(
            cuda::copy(operands[i].output, staged[i].output,
                       outputElements(execution, operand) * cgx_element_bytes(operand.type), stream));
        !status.ok())
      return status;
  }
  return statusOf(cuda::waitFor(stream));
}

} // namespace cgx
